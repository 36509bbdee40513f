package netguard

import "net/netip"

// notPublic says what an address is that is not one of the public internet, as
// the registries of IANA for special-purpose addresses have it (RFC 6890 and
// what came later); empty for one that is. An IPv4 address within an IPv6
// address is what counts.
func notPublic(a netip.Addr) string {
	if !a.IsValid() || a.Zone() != "" {
		return "an interface of this machine"
	}
	if a = a.Unmap(); a.Is4() {
		return notPublic4(a.As4())
	}
	return notPublic6(a)
}

func notPublic4(b [4]byte) string {
	in := func(want ...byte) bool {
		for i := range want {
			if b[i] != want[i] {
				return false
			}
		}
		return true
	}
	switch {
	case b[0] == 127:
		return "this machine"
	case b[0] == 0:
		return "an unspecified address"
	case b[0] == 10, b[0] == 172 && b[1]&0xf0 == 16, in(192, 168):
		return "a private network"
	case in(169, 254):
		return "a link-local address"
	case b[0] == 100 && b[1]&0xc0 == 64:
		return "a provider's internal network"
	case in(168, 63, 129, 16):
		return "a cloud's internal service"
	case b[0]&0xf0 == 224:
		return "a multicast address"
	case b[0] >= 240:
		return "a reserved address"
	case in(192, 0, 0), in(192, 0, 2), in(192, 88, 99), in(198, 51, 100), in(203, 0, 113), b[0] == 198 && b[1]&0xfe == 18:
		return "an address for special purposes"
	}
	return ""
}

func notPublic6(a netip.Addr) string {
	b := a.As16()
	word := func(i int) uint16 { return uint16(b[2*i])<<8 | uint16(b[2*i+1]) }
	zero := func(from, to int) bool {
		for i := from; i < to; i++ {
			if b[i] != 0 {
				return false
			}
		}
		return true
	}
	switch {
	case a.IsUnspecified():
		return "an unspecified address"
	case a.IsLoopback():
		return "this machine"
	case a.IsMulticast():
		return "a multicast address"
	case a.IsLinkLocalUnicast():
		return "a link-local address"
	case a.IsPrivate(), b[0] == 0xfe && b[1]&0xc0 == 0xc0:
		return "a private network"
	case word(0) == 0x64 && word(1) == 0xff9b && zero(4, 12): // NAT64
		return notPublic4([4]byte(b[12:]))
	case b[0]&0xe0 != 0x20:
		return "a reserved address"
	case word(0) == 0x2002:
		return "another network through 6to4"
	case word(0) == 0x2001 && word(1) == 0:
		return "another network through Teredo"
	case word(0) == 0x2001 && word(1) < 0x200, word(0) == 0x2001 && word(1) == 0xdb8, word(0) == 0x3fff && word(1) < 0x1000:
		return "an address for special purposes"
	}
	return ""
}

// isLinkLocal reports whether a is an address on which clouds tell machines
// their credentials, or none that a connection can be made to.
func isLinkLocal(a netip.Addr) bool {
	a = a.Unmap()
	return !a.IsValid() || a.Zone() != "" || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() ||
		a == netip.AddrFrom4([4]byte{168, 63, 129, 16}) || a == netip.AddrFrom4([4]byte{100, 100, 100, 200}) ||
		a == netip.AddrFrom16([16]byte{0xfd, 0x00, 0x0e, 0xc2, 14: 0x02, 15: 0x54})
}
