package approval

import (
	"slices"
	"strconv"
	"strings"
)

func addSystem(add func(program, ...string)) {
	add(kill, "kill")
	add(asks("it ends processes by name, which may be others than those of this task"), "pkill", "killall", "skill", "xkill", "fuser")
	add(denies("would end every process"), "killall5")
	add(power, "shutdown", "reboot", "halt", "poweroff", "kexec")
	add(runLevel, "init", "telinit")
	add(systemctl, "systemctl", "loginctl", "service", "launchctl", "rc-service", "initctl", "sv")
	add(makeFileSystem, "mkswap", "wipefs", "blkdiscard", "mkdosfs", "badblocks")
	add(partition, "fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted", "cryptsetup", "hdparm", "diskutil", "mdadm", "zpool", "lvremove", "vgremove", "pvremove")
	add(packages, "apt", "apt-get", "aptitude", "dpkg", "rpm", "dnf", "yum", "zypper", "pacman", "apk", "brew", "snap", "flatpak", "port", "emerge")
	add(asks("it changes accounts"), "useradd", "userdel", "usermod", "groupadd", "groupdel", "groupmod", "adduser", "deluser", "passwd", "chpasswd", "chsh", "visudo", "vipw", "gpasswd", "chage")
	add(asks("it changes what file systems are mounted"), "umount", "swapoff", "swapon", "losetup")
	add(listsOr("it changes what file systems are mounted"), "mount")
	add(asks("it changes the kernel"), "modprobe", "insmod", "rmmod", "depmod", "update-grub", "grub-install", "grub-mkconfig", "efibootmgr", "update-initramfs")
	add(asks("it changes the network of the machine"), "iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "ifconfig", "route", "nmcli", "iwconfig", "tc")
	add(crontab, "crontab")
	add(asks("it runs commands at another time"), "at", "batch")
	add(sysctl, "sysctl")
	add(asks("it changes settings of the desktop or the machine"), "defaults", "gsettings", "dconf", "hostnamectl", "timedatectl", "localectl", "hostname", "date-set", "hwclock", "csrutil", "scutil", "setenforce", "nvram", "spctl")
	add(asks("it works on another machine"), "ssh", "sftp", "ftp", "telnet", "mosh", "lftp", "sshpass", "ansible", "ansible-playbook", "rclone")
	add(netcat, "nc", "ncat", "netcat", "socat")
}

// asks makes a judge that asks, whatever the arguments.
func asks(reason string) program {
	return func(c *call) string {
		c.ask(c.key, c.name+": "+reason)
		c.wrapped()
		return unknown
	}
}

func denies(reason string) program {
	return func(c *call) string { c.deny(c.name + " " + reason); return "" }
}

// listsOr asks unless there are no arguments or only -l.
func listsOr(reason string) program {
	return func(c *call) string {
		if len(c.args) > 0 && !slices.Equal(c.args, []string{"-l"}) {
			c.ask(c.key, c.name+": "+reason)
		}
		return unknown
	}
}

// kill judges signals. A process of the agent's own, by job or $!, may be ended
// without asking, and so may any by its number: the system lets a user end only
// what is theirs, and agents have to end what they started. Process 1, all
// processes at once and what is not known beforehand may not.
func kill(c *call) string {
	args := c.args
	if len(args) > 0 && (args[0] == "-l" || args[0] == "-L" || args[0] == "--list") {
		return unknown
	}
	switch {
	case len(args) > 1 && (args[0] == "-s" || args[0] == "-n" || args[0] == "--signal" || args[0] == "-q"):
		args = args[2:]
	case len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--" && (len(args) > 1 || args[0] != "-1"):
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	for _, a := range args {
		n, err := strconv.ParseInt(a, 0, 64)
		switch {
		case err == nil && n == -1:
			c.deny("kill -1 would end every process")
		case err == nil && (n == 1 || n == -0x1):
			c.deny("kill 1 would end the first process, and the system with it")
		case strings.Contains(a, unknown):
			c.ask(c.key, "kill would end a process that is not known beforehand")
		}
	}
	return ""
}

// power judges the programs that switch the machine off.
func power(c *call) string {
	f := c.flags()
	if f.has("help", "version", "c", "show") || c.name == "kexec" && !f.has("e", "exec") && len(c.args) > 0 {
		c.ask(c.key, c.name+" is about switching the machine off")
		return ""
	}
	c.deny(c.name + " would switch the machine off")
	return ""
}

func runLevel(c *call) string {
	if len(c.args) > 0 && (c.args[0] == "0" || c.args[0] == "6" || c.args[0] == "1" || strings.EqualFold(c.args[0], "s")) {
		c.deny(c.name + " " + c.args[0] + " would switch the machine off")
		return ""
	}
	c.ask(c.key, c.name+" changes the run level of the machine")
	return ""
}

// systemctl judges the managers of services: looking is harmless.
func systemctl(c *call) string {
	f := c.flags("H", "M", "t", "p", "n", "host", "machine", "type", "property", "state")
	looks := []string{"status", "is-active", "is-enabled", "is-failed", "show", "cat", "list-units", "list-unit-files", "list-timers", "list-sockets", "list-dependencies", "list", "print", "show-environment", "list-sessions", "--status-all"}
	for _, word := range f.operands {
		switch word {
		case "poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency", "rescue", "suspend", "hibernate", "hybrid-sleep", "isolate":
			if c.name == "systemctl" || c.name == "loginctl" || c.name == "launchctl" {
				c.deny(c.name + " " + word + " would switch the machine off")
				return ""
			}
		}
		if slices.Contains(looks, word) {
			return unknown
		}
	}
	if len(f.operands) > 0 {
		c.ask(c.key, c.name+" changes what runs on the machine")
	}
	return unknown
}

// makeFileSystem judges mkfs and the like: on a file of the workspace they ask.
func makeFileSystem(c *call) string {
	f := c.flags("t", "L", "b", "O", "o", "n", "i", "m", "N", "U", "E", "F", "S", "s")
	if f.has("V", "version", "help") {
		return unknown
	}
	for _, name := range f.operands {
		if k := c.locate(name, true).kind; k != inWorkspace && k != inTemp && strings.Contains(name, "/") || k >= outside {
			c.deny(c.name + " would destroy what is on " + show(c.locate(name, true), name))
			return ""
		}
	}
	c.ask(c.key, c.name+" makes a new file system")
	return ""
}

// partition judges the editors of partitions.
func partition(c *call) string {
	f := c.flags()
	if f.has("l", "list", "I", "i", "version", "help", "d", "dump", "detail", "J") || slices.ContainsFunc(c.args, func(a string) bool {
		return a == "list" || a == "status" || a == "print" || a == "info" || a == "luksDump" || a == "open" || a == "close"
	}) {
		c.ask(c.key, c.name+" works on disks")
		return unknown
	}
	for _, a := range c.args {
		if c.locate(a, true).kind == rawDevice {
			c.deny(c.name + " would change the disk " + a)
			return ""
		}
	}
	c.ask(c.key, c.name+" works on disks")
	return ""
}

// packages judges the system's package managers: looking is harmless.
func packages(c *call) string {
	f := c.flags("o", "t", "c", "n")
	looks := []string{"list", "show", "search", "policy", "info", "depends", "rdepends", "query", "outdated", "leaves", "deps", "config", "doctor", "why", "provides", "repolist", "history", "files", "changelog", "--prefix", "contents", "find"}
	switch {
	case c.name == "dpkg" && f.has("l", "L", "S", "s", "list", "listfiles", "search", "status", "print-architecture", "get-selections", "p", "I", "c"),
		c.name == "rpm" && f.has("q", "qa", "V", "query") || c.name == "pacman" && f.has("Q", "Ss", "F"),
		f.has("version", "help", "prefix", "cellar", "simulate", "dry-run"), len(f.operands) > 0 && slices.Contains(looks, f.operands[0]):
		return unknown
	}
	if len(c.args) > 0 {
		c.ask(c.key, c.name+" changes what is installed on the machine")
	}
	return unknown
}

func crontab(c *call) string {
	if !c.flags("u").has("l") {
		c.ask(c.key, "crontab changes what runs at other times")
	}
	return unknown
}

func sysctl(c *call) string {
	f := c.flags("p", "r")
	if f.has("w", "p", "system", "load") || strings.Contains(strings.Join(f.operands, " "), "=") {
		c.ask(c.key, "sysctl changes the kernel's settings")
	}
	return unknown
}

// netcat judges nc and socat: with a program at the end of the line they ask.
func netcat(c *call) string {
	f := c.flags("e", "c", "exec", "sh-exec", "p", "w", "s", "X", "x", "q", "i")
	runs := slices.ContainsFunc(c.args, func(a string) bool {
		u := strings.ToUpper(a)
		return strings.HasPrefix(u, "EXEC:") || strings.HasPrefix(u, "SYSTEM:")
	})
	if runs || f.has("e", "exec", "sh-exec") || f.has("c") && c.name != "socat" {
		c.ask(c.key, c.name+" gives others a program on this machine")
	} else if c.in != "" {
		c.ask(c.key, c.name+" sends data over the network")
	}
	return unknown
}
