package approval

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// setsVariable asks for a variable that makes a harmless program run another
// one, however it is set: before a command, by export, by env.
func (s *scope) setsVariable(name, value string) {
	switch name {
	case "LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "ENV", "PROMPT_COMMAND", "DYLD_INSERT_LIBRARIES", "PYTHONSTARTUP", "PERL5OPT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
		"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR":
		if value != "" && value != "/dev/null" {
			s.ask("", name+" makes other programs run code of its own")
		}
	case "NODE_OPTIONS", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS":
		if slices.ContainsFunc(strings.Fields(value), loadsCode) || strings.Contains(value, unknown) {
			s.ask("", name+" makes other programs run code of its own")
		}
	case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS",
		"SSH_ASKPASS", "SUDO_ASKPASS", "GIT_PROXY_COMMAND", "LESSOPEN", "LESSCLOSE", "BROWSER", "RSYNC_RSH":
		s.namesProgram(name, value)
	}
}

// loadsCode reports whether an option of an interpreter loads a file.
func loadsCode(option string) bool {
	for _, o := range [...]string{"--require", "-r", "--import", "--loader", "--experimental-loader", "-javaagent", "-agentpath", "-agentlib"} {
		if strings.HasPrefix(option, o) {
			return true
		}
	}
	return false
}

// namesProgram judges a setting whose value is a command: pagers and editors of
// the usual names, and those that do nothing, are no reason to ask.
func (s *scope) namesProgram(setting, value string) {
	words := strings.Fields(value)
	if len(words) == 0 {
		return
	}
	switch programName(words[0]) {
	case "cat", "less", "more", "true", ":", "echo", "vi", "vim", "nvim", "nano", "emacs", "code", "delta", "bat":
		if len(words) == 1 || !strings.ContainsAny(value, ";|&$`<>\n(") {
			return
		}
	}
	s.floorOnly(func(s *scope) { s.script(value, unknown) })
	s.ask("", setting+" makes other programs run "+value)
}

// declaresVariables asks for the variables that stand before a command or in a
// declaration.
func (s *scope) declaresVariables(list []*syntax.Assign) {
	for _, a := range list {
		if a.Name != nil && !a.Naked && a.Array == nil {
			s.setsVariable(a.Name.Value, s.Get(a.Name.Value).String())
		}
	}
}
