package netguard

import (
	"net/netip"
	"strconv"
	"strings"
)

// canonical is a host as it is compared: lower case, without a final dot.
func canonical(host string) string {
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// oddNumber reports whether a host is an IPv4 address for some parsers, though
// not in the usual notation of four decimal numbers: one that ends in a number,
// be it octal or hexadecimal (WHATWG URL, "ends in a number checker").
func oddNumber(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	digits, hex := strings.CutPrefix(last, "0x")
	return hex && strings.Trim(digits, "0123456789abcdef") == ""
}

// localName reports whether a name belongs to this machine or its network
// (RFC 6761, RFC 6762, RFC 8375, and .internal, which ICANN keeps for this).
func localName(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch last {
	case "localhost", "local", "internal", "localdomain":
		return true
	}
	return host == "home.arpa" || strings.HasSuffix(host, ".home.arpa")
}

// badPort says why a port is refused; empty if it is not. Beside what is no
// port, those are refused that other protocols listen on which could take a
// request for one of theirs (WHATWG Fetch, "bad port").
func badPort(port string) string {
	if port == "" {
		return ""
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		return "there is no port " + port
	}
	switch n {
	case 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
		113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
		554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379,
		6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211:
		return "port " + port + " is not one of the web"
	}
	return ""
}
