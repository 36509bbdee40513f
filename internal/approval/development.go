package approval

import (
	"net/url"
	"slices"
	"strings"
)

func addDevelopment(add func(program, ...string)) {
	add(git, "git")
	add(curl, "curl")
	add(wget, "wget", "wget2")
	add(docker, "docker", "podman", "nerdctl", "docker-compose")
	add(verbs("it publishes or installs for all", map[string]bool{"publish": true, "unpublish": true, "deprecate": true, "owner": true, "adduser": true, "login": true, "logout": true, "token": true, "access": true, "dist-tag": true, "yank": true, "push": true}), "npm", "pnpm", "yarn", "cargo", "gem", "twine", "flit", "hex", "mix-publish")
	add(verbs("it changes what runs elsewhere", map[string]bool{"delete": true, "drain": true, "apply": true, "replace": true, "scale": true, "exec": true, "patch": true, "rollout": true, "uninstall": true, "upgrade": true, "install": true, "destroy": true, "cordon": true, "create": true, "edit": true, "run": true, "taint": true, "import": true, "state": true}), "kubectl", "oc", "helm", "terraform", "tofu", "pulumi", "vagrant", "flyctl", "fly", "heroku", "vercel", "netlify", "wrangler", "serverless")
	add(cloud, "aws", "gcloud", "gsutil", "az", "doctl", "hcloud")
	add(forge, "gh", "glab", "hub")
	add(database, "psql", "mysql", "mariadb", "sqlite3", "mongosh", "mongo", "redis-cli", "dropdb", "clickhouse-client")
	add(asks("it reads secrets"), "pass", "gopass", "security", "secret-tool", "op", "bw")
}

// isLocal reports whether a URL leads to this machine.
func isLocal(raw string) bool {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	switch h := u.Hostname(); h {
	case "localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal":
		return true
	default:
		return strings.HasSuffix(h, ".localhost")
	}
}

// curl judges curl by what it sends and where it writes: to fetch is harmless,
// and so is all that stays on this machine.
func curl(c *call) string {
	valued := []string{
		"X", "request", "d", "data", "data-raw", "data-binary", "data-urlencode", "json", "F", "form", "T", "upload-file", "o", "output", "output-dir",
		"H", "header", "u", "user", "A", "user-agent", "e", "referer", "b", "cookie", "c", "cookie-jar", "m", "max-time", "connect-timeout", "retry",
		"w", "write-out", "x", "proxy", "K", "config", "cacert", "cert", "key", "url", "D", "dump-header", "retry-delay", "r", "range", "y", "z", "resolve", "unix-socket", "trace", "trace-ascii", "stderr", "retry-max-time",
	}
	f := c.flags(valued...)
	urls := append(f.operands, f.value("url"))
	local := !slices.ContainsFunc(urls, func(u string) bool { return u != "" && !isLocal(u) })
	method := strings.ToUpper(f.value("X", "request"))
	sends := f.has("d", "data", "data-raw", "data-binary", "data-urlencode", "json", "F", "form", "T", "upload-file") || method != "" && method != "GET" && method != "HEAD" && method != "OPTIONS"
	switch {
	case f.has("unix-socket", "abstract-unix-socket"):
		c.ask(c.key, "curl talks to a service of the machine")
	case f.has("K", "config"):
		c.ask(c.key, "curl takes its options from a file")
	case sends && !local:
		c.ask(c.key, "curl sends data over the network")
	}
	for _, u := range urls {
		if name, ok := strings.CutPrefix(u, "file://"); ok {
			c.reads(c.key, name)
		}
	}
	for _, option := range []string{"o", "output", "output-dir", "D", "dump-header", "c", "cookie-jar", "trace", "trace-ascii", "stderr"} {
		if name := f.value(option); name != "" && name != "-" {
			c.writes(c.key, "curl", name)
		}
	}
	return unknown
}

func wget(c *call) string {
	f := c.flags("O", "output-document", "P", "directory-prefix", "o", "output-file", "a", "append-output", "header", "U", "t", "T", "e", "execute", "post-data", "post-file", "method", "body-data", "body-file", "q", "i", "A", "R", "D", "l", "Q")
	if f.has("post-data", "post-file", "body-data", "body-file", "use-askpass") && slices.ContainsFunc(f.operands, func(u string) bool { return !isLocal(u) }) {
		c.ask(c.key, "wget sends data over the network")
	}
	for _, option := range []string{"O", "output-document", "P", "directory-prefix", "o", "output-file", "a", "append-output"} {
		if name := f.value(option); name != "" && name != "-" {
			c.writes(c.key, "wget", name)
		}
	}
	return unknown
}

// docker judges containers: to look, build, run and stop is harmless; to remove
// data, to publish and to reach the machine itself is not.
func docker(c *call) string {
	f := c.flags("H", "host", "context", "f", "file", "p", "project-name", "l", "log-level", "u", "user", "w", "workdir", "e", "env", "name")
	words := strings.Join(f.operands, " ")
	first := ""
	if len(f.operands) > 0 {
		first = f.operands[0]
	}
	switch {
	case first == "push" || first == "login" || strings.HasPrefix(words, "image push"):
		c.ask(c.key, c.name+" publishes an image or gives away a login")
	case slices.Contains(c.args, "prune"), first == "rmi", first == "rm" && slices.ContainsFunc(c.args, isForce), strings.HasPrefix(words, "volume rm"), strings.HasPrefix(words, "image rm"), strings.HasPrefix(words, "network rm"), first == "swarm":
		c.ask(c.key, c.name+" removes containers, images or data")
	case slices.Contains(f.operands, "down") && slices.ContainsFunc(c.args, func(a string) bool { return a == "-v" || a == "--volumes" || a == "--rmi" }):
		c.ask(c.key, c.name+" removes data")
	}
	if slices.Contains(f.operands, "run") || slices.Contains(f.operands, "create") {
		c.containerReach()
	}
	if i := slices.Index(f.operands, "exec"); i >= 0 && i+2 < len(f.operands) {
		switch program := programName(f.operands[i+2]); program {
		case "rm", "shred", "dd", "truncate", "mkfs":
			c.ask(c.key, program+" would remove data in the container")
		}
	}
	return unknown
}

func isForce(a string) bool {
	return a == "--force" || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.ContainsAny(a, "fv")
}

// containerReach asks for containers that reach the machine outside of the
// workspace.
func (c *call) containerReach() {
	for i, a := range c.args {
		name, v, has := strings.Cut(a, "=")
		if !has && i+1 < len(c.args) {
			v = c.args[i+1]
		}
		switch name {
		case "--privileged", "--pid", "--cap-add", "--device", "--userns", "--ipc":
			c.ask(c.key, "the container gets rights over the machine by "+name)
		case "-v", "--volume", "--mount":
			source, _, _ := strings.Cut(v, ":")
			for field := range strings.SplitSeq(v, ",") {
				if k, s, ok := strings.Cut(field, "="); ok && (k == "source" || k == "src") {
					source = s
				}
			}
			if !strings.HasPrefix(source, "/") && !strings.HasPrefix(source, ".") {
				continue
			}
			if k := c.locate(source, true).kind; k != inWorkspace && k != theWorkspace && k != inTemp {
				c.ask(c.key, "the container reaches "+source+", which is outside of the workspace")
			}
		}
	}
}

// verbs makes a judge that asks when the first operands name one of words.
func verbs(reason string, words map[string]bool) program {
	return func(c *call) string {
		f := c.flags("C", "cwd", "prefix", "n", "namespace", "context", "w", "workspace", "filter", "F")
		if c.name == "npm" || c.name == "pnpm" || c.name == "yarn" || c.name == "cargo" || c.name == "bun" {
			c.perUser(f)
		}
		for _, op := range f.operands[:min(1, len(f.operands))] {
			if words[op] && !slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(a, "--dry-run") }) {
				c.ask(c.key, c.name+" "+op+": "+reason)
			}
		}
		if len(f.operands) > 1 && (f.operands[0] == "exec" || f.operands[0] == "x" || f.operands[0] == "dlx") {
			i := slices.Index(c.args, f.operands[1])
			c.floorOnly(func(s *scope) { s.call(c.args[i:], c.in) })
		}
		return unknown
	}
}

// perUser asks for installations outside of the workspace.
func (c *call) perUser(f flags) {
	if f.has("g", "global", "location") || len(f.operands) > 0 && f.operands[0] == "global" {
		c.ask(c.key, c.name+" installs for all projects")
	}
	if c.name == "cargo" && len(f.operands) > 0 && f.operands[0] == "install" && !slices.Contains(c.args, "--root") {
		c.ask(c.key, "cargo installs for all projects")
	}
}

// cloud judges the command lines of clouds: reading is harmless.
func cloud(c *call) string {
	reads := []string{"describe", "list", "ls", "get", "show", "help", "version", "info", "cat", "du", "stat", "wait"}
	f := c.flags("region", "profile", "output", "query", "project", "format", "filter")
	for _, op := range f.operands {
		for _, r := range reads {
			if op == r || strings.HasPrefix(op, r+"-") {
				return unknown
			}
		}
	}
	if len(f.operands) > 0 {
		c.ask(c.key, c.name+" changes what is in the cloud")
	}
	return unknown
}

// forge judges gh and the like: to remove and to merge asks.
func forge(c *call) string {
	f := c.flags("R", "repo", "X", "method", "f", "F", "H", "t", "b", "q", "L")
	for _, op := range f.operands {
		switch op {
		case "delete", "merge", "transfer", "archive", "close", "release", "secret", "edit", "rename", "ssh-key", "gpg-key", "auth":
			if last := f.operands[len(f.operands)-1]; last != "list" && last != "view" && last != "status" {
				c.ask(c.key, c.name+" "+op+" changes what others see")
				return unknown
			}
		}
	}
	if len(f.operands) > 0 && f.operands[0] == "api" {
		if m := strings.ToUpper(f.value("X", "method")); m != "" && m != "GET" || m == "" && f.has("f", "F", "input") {
			c.ask(c.key, c.name+" api changes what others see")
		}
	}
	return unknown
}

// database judges the clients of databases by the words of their statements.
func database(c *call) string {
	all := strings.ToUpper(strings.Join(c.args, " ") + " " + c.in)
	risky := c.name == "dropdb"
	for _, w := range []string{"DROP ", "TRUNCATE ", "FLUSHALL", "FLUSHDB", "DROPDATABASE", "DELETEMANY({})", ".SHELL", ".SYSTEM", "\\!"} {
		risky = risky || strings.Contains(all, w)
	}
	if strings.Contains(all, "DELETE FROM") && !strings.Contains(all, "WHERE") {
		risky = true
	}
	if risky {
		c.ask(c.key, c.name+" would remove data")
	}
	return unknown
}
