package model

// codeRow gives the class of the codes, types, statuses and reasons that it
// names, with spaces between. Case, _ and - do not matter.
type codeRow struct {
	class Class
	codes string
}

// wordRow gives the class of texts that hold one of its patterns: lower-case
// pieces that stand in the text in their order, with a star between them. If
// statuses are given it counts only for those.
type wordRow struct {
	class    Class
	statuses []int
	patterns []string
}

func (r *wordRow) on(status int) bool {
	for _, s := range r.statuses {
		if s == status {
			return true
		}
	}
	return len(r.statuses) == 0
}

// decisiveStatus are the statuses that need no look at the body.
var decisiveStatus = map[int]Class{
	402: Billing,
	408: Timeout,
	498: Overloaded, // Groq: flex capacity exceeded
	504: Timeout,
	522: Timeout, // Cloudflare: connection timed out
	524: Timeout, // Cloudflare: a timeout occurred
	529: Overloaded,
}

// generalStatus is what a status says where nothing in the body says more.
var generalStatus = map[int]Class{
	403: Auth,
	404: ModelNotFound,
	409: ServerError, // a conflict inside of the provider
	413: ContextOverflow,
	425: Overloaded,
	429: RateLimit,
	503: Overloaded,
}

// codeTable are the codes that say what happened.
var codeTable = []codeRow{
	{ContextOverflow, "context_length_exceeded context_window_exceeded model_context_window_exceeded exceed_context_size_error " +
		"too_many_prompt_tokens request_too_large prompt_too_long input_too_long string_above_max_length model_max_prompt_tokens_exceeded"},
	{Billing, "insufficient_quota exceeded_current_quota_error terminal_quota_exhausted billing_error billing_not_active billing_hard_limit_reached " +
		"usage_limit_reached usage_not_included credits_error insufficient_credits insufficient_balance insufficient_funds payment_required " +
		"quota_exceeded arrearage AllocationQuota.FreeTierOnly"},
	{Auth, "invalid_api_key authentication_error invalid_authentication_error API_KEY_INVALID UNAUTHENTICATED unauthorized token_expired " +
		"ExpiredTokenException UnrecognizedClientException InvalidSignatureException unsupported_country_region_territory"},
	{ModelNotFound, "model_not_found DeploymentNotFound invalid_model model_not_supported unsupported_model model_decommissioned " +
		"model_not_available ModelError not_found_error NOT_FOUND ResourceNotFoundException"},
	{ContentFilter, "content_filter content_policy_violation ResponsibleAIPolicyViolation invalid_prompt moderation_blocked " +
		"data_inspection_failed PROHIBITED_CONTENT cyber_policy_violation"},
	{RateLimit, "rate_limit_exceeded rate_limit_error RateLimitReached rate_limited too_many_requests ThrottlingException throttling_error " +
		"Throttling Throttling.RateQuota limit_requests limit_burst_rate RESOURCE_EXHAUSTED queue_exceeded token_quota_exceeded request_quota_exceeded"},
	{Overloaded, "overloaded_error overloaded engine_overloaded_error server_overloaded model_overloaded service_unavailable " +
		"ServiceUnavailableException service_unavailable_error UNAVAILABLE capacity_exceeded ModelNotReadyException slow_down"},
	{Timeout, "timeout timeout_error request_timeout gateway_timeout DEADLINE_EXCEEDED ModelTimeoutException"},
	// The model wrote a call that does not fit; asked again it may do better.
	{ServerError, "tool_use_failed"},
	// OpenRouter says so, with code 502, when the host behind it broke off.
	{ServerError, "provider_unavailable"},
	{InvalidRequest, "previous_response_not_found invalid_encrypted_content unsupported_parameter unsupported_value invalid_image_url"},
}

// weakCodeTable are the codes that providers give to anything.
var weakCodeTable = []codeRow{
	{InvalidRequest, "invalid_request_error INVALID_ARGUMENT bad_request BadRequestError ValidationException"},
	{Auth, "permission_error permission_denied AccessDeniedException forbidden"},
	{ServerError, "server_error internal_server_error api_error INTERNAL internal_error InternalServerException"},
}

// overflowWords mean that the prompt is larger than the model's window.
var overflowWords = []wordRow{{ContextOverflow, nil, []string{
	"maximum context length",
	"maximum prompt length",
	"exceed*context window",
	"exceed*context size",
	"exceed*context length",
	"exceed*context limit",
	"context window*exceed",
	"context size*exceed",
	"context length*exceed",
	"context limit*exceed",
	"too long*context",
	"too large*context",
	"context overflow",
	"prompt is too long",
	"prompt too long",
	"prompt exceeds max length",
	"input is too long",
	"input too long",
	"input length*exceed",
	"range of input length",
	"input token count*exceed",
	"input tokens exceed",
	"exceed*model token limit",
	"exceed*maximum number of tokens allowed",
	"exceed*max_model_len",
	"inputs tokens + max_new_tokens must be",
	"total length of all messages is too long",
	"reduce the length of the messages",
	"reduce the length of the prompt",
	"too large for model with",
	"long context requests", // Anthropic: the window above 200,000 tokens is not in the plan
	"上下文*超",
	"输入*超过*长度",
	"输入*长度*超过",
}}, {ContextOverflow, []int{0, 200, 400, 413, 422, 500}, []string{ // at 429 such words speak of a rate
	"context length of only", // LM Studio
	"context_length_exceeded",
	"context window*too long",
	"exceed max message tokens",
	"exceed*max_prompt_tokens",
	"exceed*token limit",
	"token limit exceeded",
	"prompt token count*exceed", // Copilot
	"prompt tokens*exceed",
	"prompt length*exceed",
	"prompt has*exceed",
	"prompt is too large",
	"number of tokens*exceed",
	"more than max tokens allowed",
	"must have less than*tokens",                // Hugging Face
	"inputs` tokens + `max_new_tokens` must be", // Hugging Face
	"too many tokens: size limit",               // Cohere
	"message is too long",
	"messages too long",
	"max seq len",
	"max_seq_len",
	"string too long*maximum length",
}}}

// wordTable are the words of providers in the order in which they count.
var wordTable = []wordRow{
	{ContentFilter, nil, []string{
		"content management policy", "content policy", "content filter", "usage policy", "usage policies", "safety system", "content exists risk",
		"inappropriate content", "input was flagged", "prompt was flagged", "requires moderation", "sensitive content", "敏感",
	}},
	{Billing, nil, []string{
		"credit balance", "insufficient credit", "insufficient balance", "insufficient funds", "insufficient quota", "exceeded your current quota",
		"not enough credit", "out of credits", "no credits", "purchase credits", "can only afford", "billing limit", "billing hard limit",
		"billing cycle", "check your billing", "due to billing", "balance is too low", "weekly limit", "free allocated quota", "requires payment", "billing is not enabled", "enable billing", "payment required", "usage limit", "spending limit", "spend limit",
		"monthly limit", "key limit exceeded", "余额不足", "欠费",
	}},
	{Auth, nil, []string{
		"incorrect api key", "invalid api key", "api key not valid", "api key is invalid", "api key expired", "api key not found", "invalid x-api-key",
		"no api key", "missing api key", "missing authentication", "authentication fail", "invalid authentication", "invalid token", "token expired",
		"token has expired", "could not resolve authentication", "account*deactivated",
	}},
	{ModelNotFound, nil, []string{
		"model*does not exist", "model*not found", "no such model", "unknown model", "not a valid model", "invalid model", "model is not supported", "requested model*not supported",
		"model*decommissioned", "model*has been deprecated", "model*has been retired", "not a chat model", "no endpoints found", "access to the model",
		"模型不存在",
	}},
	{Overloaded, nil, []string{
		"overload", "over capacity", "at capacity", "no capacity", "capacity exceeded", "server is busy", "server busy", "currently busy",
		"loading model", "model*is currently loading", "访问量过大", "系统繁忙",
	}},
	{RateLimit, nil, []string{
		"rate limit", "rate-limit", "ratelimit", "too many requests", "throttl", "requests per", "tokens per", "too many tokens, please wait",
		"concurrency limit", "resource has been exhausted", "quota exceeded", "请求过于频繁", "速率限制",
	}},
	{Overloaded, []int{0, 200, 403, 500, 502, 520, 521, 523}, []string{
		"high demand", "temporarily unavailable", "service unavailable", "try again later", "no available",
	}},
	{Timeout, []int{0, 200, 499, 500, 502, 503}, []string{"timed out", "timeout", "deadline exceeded"}},
}

// hopelessTransport are the words of errors without a reply that no retry mends.
var hopelessTransport = []string{
	"unsupported protocol scheme", "no host in request url", "invalid url", "missing protocol scheme", "invalid header field",
	"server gave http response to https client", "certificate", "x509:", "proxy authentication required",
}
