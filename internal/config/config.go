// Package config is what a user can set, from where, and what holds when
// nothing is set.
//
// Config is one struct and Default its one set of defaults. Load lays the
// layers over it, weakest first: $RONDO_HOME/config.yaml, the project's
// .rondo/config.yaml, RONDO_* variables, flags. A file is checked whole: every
// unknown key and wrong value is an error with its place. What a project's file
// could do harm with counts only in folders that the user trusts.
//
// Struct tags say all that is known of a key:
//
//	yaml:"name"     its name
//	oneof:"a b"     the values that it may have
//	min:"0"         its least value; max:"1" its greatest
//	secret:"yes"    never print it; secret:"url" but for a password in it
//	trusted:"yes"   not in a project's file unless the folder is trusted
package config

import "time"

// Config is all that can be set.
type Config struct {
	Model           string `yaml:"model"`
	Endpoint        `yaml:",inline"`
	Provider        string   `yaml:"provider"`
	ContextWindow   int      `yaml:"context_window" min:"0"`
	MaxOutputTokens int      `yaml:"max_output_tokens" min:"0"`
	Effort          string   `yaml:"effort" oneof:"none minimal low medium high xhigh max"`
	Agent           Agent    `yaml:"agent"`
	Tools           []string `yaml:"tools"`
	NoTools         bool     `yaml:"no_tools"`
	Toolset         string   `yaml:"toolset"`
	// Store is the URL of the database that sessions are kept in; empty for a
	// file.
	Store    string   `yaml:"store" secret:"url" trusted:"yes"`
	Sessions Sessions `yaml:"sessions"`
	Approve  string   `yaml:"approve" oneof:"ask deny all" trusted:"yes"`
	Sandbox  string   `yaml:"sandbox" oneof:"off workspace read-only" trusted:"yes"`
	// SandboxNetwork lets confined commands use the network, SandboxWritable
	// are directories that they may write to besides.
	SandboxNetwork  bool                 `yaml:"sandbox_network" trusted:"yes"`
	SandboxWritable []string             `yaml:"sandbox_writable" trusted:"yes"`
	Approvals       Approvals            `yaml:"approvals"`
	Hooks           Hooks                `yaml:"hooks" trusted:"yes"`
	Context         Context              `yaml:"context"`
	Compression     Compression          `yaml:"compression"`
	Memory          Memory               `yaml:"memory"`
	Prompt          Prompt               `yaml:"prompt"`
	Delegation      Delegation           `yaml:"delegation"`
	Fallback        []Target             `yaml:"fallback_providers"`
	FallbackReturn  string               `yaml:"fallback_return" oneof:"never next_turn"`
	Auxiliary       map[string]Auxiliary `yaml:"auxiliary"`
	Providers       map[string]Provider  `yaml:"providers"`
	Models          map[string]Model     `yaml:"models"`
	MCPServers      map[string]MCPServer `yaml:"mcp_servers"`
	Web             Web                  `yaml:"web"`
}

// Endpoint is where a provider answers and how to be let in.
type Endpoint struct {
	BaseURL string `yaml:"base_url" trusted:"yes"`
	APIMode string `yaml:"api_mode" oneof:"chat_completions codex_responses responses anthropic_messages gemini_generate_content"`
	// APIKey is the key, KeyEnv the variable that holds it (or several, with
	// commas between, whose keys are used in turn), KeyCommand a
	// command that prints it.
	APIKey     string `yaml:"api_key" secret:"yes" trusted:"yes"`
	KeyEnv     string `yaml:"key_env" trusted:"yes"`
	KeyCommand string `yaml:"key_command" trusted:"yes"`
}

// Agent bounds a run. Zero is no bound but for MaxTurns.
type Agent struct {
	MaxTurns             int           `yaml:"max_turns" min:"1"`
	MaxErrors            int           `yaml:"max_errors" min:"0"`
	MaxBudgetInputTokens int64         `yaml:"max_budget_input_tokens" min:"0"`
	MaxExecution         time.Duration `yaml:"max_execution" min:"0"`
	Snapshot             string        `yaml:"snapshot" oneof:"every_tool_round every_round manual"`
	// RepeatTold and RepeatStop are how many rounds in a row may bring the
	// same call with the same result before the model is told and before the
	// run ends. BudgetWarningAt is the part of MaxTurns after which the model
	// is told that its rounds run out; 1 never tells it.
	RepeatTold      int     `yaml:"repeat_told" min:"1"`
	RepeatStop      int     `yaml:"repeat_stop" min:"2"`
	BudgetWarningAt float64 `yaml:"budget_warning_at" min:"0.1" max:"1"`
}

// Sessions bounds how long sessions are kept and how much room they take in
// their file; 0 is no bound.
type Sessions struct {
	MaxAge    time.Duration `yaml:"max_age" min:"0" trusted:"yes"`
	MaxSizeMB int64         `yaml:"max_size_mb" min:"0" trusted:"yes"`
}

// Approvals are rules for shell commands; see package approval.
type Approvals struct {
	Allow []string `yaml:"allow" trusted:"yes"`
	Deny  []string `yaml:"deny" trusted:"yes"`
	// Timeout is how long a person's answer is waited for.
	Timeout time.Duration `yaml:"timeout" min:"0"`
}

// Hooks are commands that are told of what happens in a run; see package
// hook/command.
type Hooks struct {
	PreToolCall   []Hook `yaml:"pre_tool_call"`
	PostToolCall  []Hook `yaml:"post_tool_call"`
	PreModelCall  []Hook `yaml:"pre_model_call"`
	PostModelCall []Hook `yaml:"post_model_call"`
	SessionStart  []Hook `yaml:"session_start"`
	SessionEnd    []Hook `yaml:"session_end"`
	SubagentStart []Hook `yaml:"subagent_start"`
	SubagentStop  []Hook `yaml:"subagent_stop"`
}

// Hook is one command. Matcher is a regular expression for the whole name of a
// tool; empty is every tool.
type Hook struct {
	Matcher string        `yaml:"matcher"`
	Command string        `yaml:"command"`
	Timeout time.Duration `yaml:"timeout" min:"0"`
}

// Context says what keeps a conversation within the context window.
type Context struct {
	// Engine is compressor, which has a model write summaries, or record,
	// which asks none.
	Engine string `yaml:"engine" oneof:"compressor record"`
}

// Compression says when and how a long history is summarised.
type Compression struct {
	Enabled bool `yaml:"enabled"`
	// Threshold is the part of the context window from which on.
	Threshold    float64 `yaml:"threshold" min:"0.05" max:"0.95"`
	ProtectLastN int     `yaml:"protect_last_n" min:"1"`
}

// Memory says what is remembered from session to session. Limits are in
// characters.
type Memory struct {
	Enabled         bool `yaml:"enabled"`
	MemoryCharLimit int  `yaml:"memory_char_limit" min:"100"`
	UserCharLimit   int  `yaml:"user_char_limit" min:"100"`
	// Flush lets the model save to memory before a history is summarised.
	Flush bool `yaml:"flush_before_compression"`
}

// Prompt says what goes into the system prompt.
type Prompt struct {
	Personality  string   `yaml:"personality"`
	ContextFiles bool     `yaml:"context_files"`
	Skills       bool     `yaml:"skills"`
	SkillDirs    []string `yaml:"skill_dirs" trusted:"yes"`
}

// Delegation bounds the children of an agent; the target is their model.
type Delegation struct {
	Target                `yaml:",inline"`
	MaxIterations         int `yaml:"max_iterations" min:"1"`
	MaxConcurrentChildren int `yaml:"max_concurrent_children" min:"1"`
	MaxDepth              int `yaml:"max_depth" min:"0"`
	// MaxChildren bounds the children of a run in all; 0 is no bound.
	MaxChildren int `yaml:"max_children" min:"0"`
	// StallAfter is how long a child may give no sign of life.
	StallAfter time.Duration `yaml:"stall_after" min:"1"`
}

// Target is a model somewhere.
type Target struct {
	Provider string `yaml:"provider"`
	Model    string `yaml:"model"`
	Endpoint `yaml:",inline"`
}

// Auxiliary is the model of a side task, such as vision, compression,
// web_extract or title, and what to fall back to.
type Auxiliary struct {
	Target   `yaml:",inline"`
	Timeout  time.Duration `yaml:"timeout" min:"0"`
	Effort   string        `yaml:"effort" oneof:"none minimal low medium high xhigh max"`
	Fallback []Target      `yaml:"fallback_chain"`
}

// Provider is what is set for a provider, a known or a new one.
type Provider struct {
	Endpoint `yaml:",inline"`
	Model    string `yaml:"model"`
	Quirks   Quirks `yaml:"quirks"`
}

// Model is what is set for a model, named PROVIDER/NAME or NAME.
type Model struct {
	ContextWindow   int    `yaml:"context_window" min:"0"`
	MaxOutputTokens int    `yaml:"max_output_tokens" min:"0"`
	Price           *Price `yaml:"price"`
	Quirks          Quirks `yaml:"quirks"`
}

// MCPServer is a server of tools: a program, or a URL.
type MCPServer struct {
	Command string            `yaml:"command" trusted:"yes"`
	Args    []string          `yaml:"args" trusted:"yes"`
	Env     map[string]string `yaml:"env" secret:"yes" trusted:"yes"`
	Cwd     string            `yaml:"cwd" trusted:"yes"`
	URL     string            `yaml:"url" trusted:"yes"`
	Headers map[string]string `yaml:"headers" secret:"yes" trusted:"yes"`
	// Tools are the tools to offer, in which * is anything; those that begin
	// with ! are left out. None offers all.
	Tools    []string      `yaml:"tools"`
	Parallel bool          `yaml:"parallel" trusted:"yes"`
	Timeout  time.Duration `yaml:"timeout" min:"0"`
	// Enabled is true when nil.
	Enabled *bool `yaml:"enabled" trusted:"yes"`
}

// Web says what may be fetched besides the public internet, see package
// netguard.
type Web struct {
	AllowPrivate []string `yaml:"allow_private" trusted:"yes"`
	// Proxy is what requests go through; the environment's is not used.
	Proxy string `yaml:"proxy" trusted:"yes"`
}

// Price is in US dollars for a million tokens.
type Price struct {
	Input      float64 `yaml:"input" min:"0"`
	CacheRead  float64 `yaml:"cache_read" min:"0"`
	CacheWrite float64 `yaml:"cache_write" min:"0"`
	Output     float64 `yaml:"output" min:"0"`
}

// Quirks override how an endpoint is spoken to; nil leaves what is known of it.
type Quirks struct {
	MaxTokensField   *string           `yaml:"max_tokens_field" oneof:"max_tokens max_completion_tokens"`
	DeveloperRole    *bool             `yaml:"developer_role"`
	NoStreamOptions  *bool             `yaml:"no_stream_options"`
	NoStream         *bool             `yaml:"no_stream"`
	ReasoningField   *string           `yaml:"reasoning_field"`
	ThinkTags        *bool             `yaml:"think_tags"`
	StartsInThink    *bool             `yaml:"starts_in_think"`
	CacheMarks       *bool             `yaml:"cache_marks"`
	NoCacheMarks     *bool             `yaml:"no_cache_marks"`
	ToolIDAlphabet   *string           `yaml:"tool_id_alphabet" oneof:"mistral anthropic"`
	ServerState      *bool             `yaml:"server_state"`
	NoImages         *bool             `yaml:"no_images"`
	NoToolImages     *bool             `yaml:"no_tool_images"`
	ImageSide        *int              `yaml:"image_side" min:"64"`
	ImageBytes       *int              `yaml:"image_bytes" min:"1000"`
	NoEffort         *bool             `yaml:"no_effort"`
	Thinking         *bool             `yaml:"thinking"`
	AdaptiveThinking *bool             `yaml:"adaptive_thinking"`
	Headers          map[string]string `yaml:"headers" secret:"yes" trusted:"yes"`
	Extra            map[string]string `yaml:"extra"`
}

// Default returns what holds when nothing is set. Approval asks: where there is
// nobody to ask, that denies.
func Default() Config {
	return Config{
		Agent:          Agent{MaxTurns: 500, Snapshot: "every_tool_round", RepeatTold: 3, RepeatStop: 6, BudgetWarningAt: 0.9},
		Approve:        "ask",
		Sandbox:        "workspace",
		SandboxNetwork: true,
		Approvals:      Approvals{Timeout: 300 * time.Second},
		Context:        Context{Engine: "compressor"},
		Compression:    Compression{Enabled: true, Threshold: 0.5, ProtectLastN: 20},
		Memory:         Memory{Enabled: true, MemoryCharLimit: 2200, UserCharLimit: 1375, Flush: true},
		Prompt:         Prompt{ContextFiles: true, Skills: true},
		FallbackReturn: "never",
		Delegation:     Delegation{MaxIterations: 50, MaxConcurrentChildren: 3, MaxDepth: 1, MaxChildren: 50, StallAfter: 450 * time.Second},
	}
}
