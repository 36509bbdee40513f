package approval

import (
	"path"
	"strings"
)

// Write judges that a tool writes to a file, makes, moves or removes it. name is
// absolute; the links in it are followed. Where the tool may write at all is for
// the tool to hold: Write asks for places from which a write becomes execution,
// and denies those that the floor protects. Rules know the write as they know a
// redirection: "> .git/config", relative to the workspace if it is inside.
func (c *Checker) Write(name string) Verdict {
	l := &look{c: c, steps: maxSteps, files: map[string]string{}, aliases: map[string]string{}}
	s := &scope{look: l, vars: map[string]variable{}, funcs: map[string]*function{}, cwd: c.Workspace}
	p := s.locate(name, true)
	shown := p.path
	if rel, ok := below(c.Workspace, p.path); ok {
		shown = rel
	}
	s.ruled("> "+shown, func(key string) {
		switch {
		case p.kind == critical, p.kind == protected, p.kind == rawDevice:
			s.deny("it would overwrite " + shown + ", which the system needs")
		case p.kind == repository, p.kind == secret, c.runsLater(p.path):
			s.ask(key, "it would write to "+shown+", which holds history, or settings and commands that run later")
		}
	})
	return l.verdict()
}

// runsLater reports whether what is written to p, absolute and resolved, is run
// by some program later, or tells it what to run: the start-up files of shells
// and desktops in the home.
func (c *Checker) runsLater(p string) bool {
	rel, ok := below(c.Home, p)
	if !ok || c.Home == "" {
		return false
	}
	rel = strings.ToLower(rel)
	switch rel {
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
		".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".xinitrc", ".xsession", ".xprofile", ".pam_environment", ".gitconfig", ".vimrc", ".gvimrc",
		".exrc", ".emacs", ".tmux.conf", ".screenrc", ".npmrc", ".condarc", ".pythonrc", ".gdbinit", ".lldbinit", ".pypirc", ".netrc", ".mailcap":
		return true
	}
	for _, dir := range [...]string{
		".ssh", ".config/autostart", ".config/systemd", ".config/fish", ".config/git", ".config/nvim", ".config/environment.d", ".config/zsh", ".bashrc.d",
		".local/bin", ".local/share/applications", ".local/share/systemd", "bin", "library/launchagents", ".vim", ".emacs.d", ".oh-my-zsh", ".gnupg", ".rondo",
	} {
		_, ok := below(dir, rel)
		_, meant := below(path.Join(c.Home, dir), c.Workspace)
		if ok && !meant {
			return true
		}
	}
	return false
}

// isRepository reports whether a path relative to the workspace is history, or
// settings from which programs learn what to run: .git and .rondo on any level,
// and the files that editors and other agents obey when they open the folder.
// File systems may not tell capitals apart.
func isRepository(rel string) bool {
	rel = strings.ToLower(rel)
	for name := range strings.SplitSeq(rel, "/") {
		if name == ".git" || name == ".rondo" {
			return true
		}
	}
	dir, name := path.Split(rel)
	switch path.Base(dir) {
	case ".vscode":
		return name == "settings.json" || name == "tasks.json" || name == "launch.json"
	case ".claude":
		return name == "settings.json" || name == "settings.local.json"
	case ".cursor":
		return name == "mcp.json"
	}
	return name == ".envrc" || name == ".mcp.json"
}
