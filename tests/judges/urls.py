"""The judge of urls.sh: makes URLs and asks Parley and Ada, an independent implementation of the WHATWG standard.

  urls.py PARSE_URLS COUNT SEED

Every verdict, host and href must be the same, but for hosts that are not ASCII, where Parley may refuse what Ada
takes (libidn2 checks by IDNA 2008) and must never give another host. The reasons that are known are counted by name;
any other difference fails.
"""
import base64
import collections
import random
import subprocess
import sys
import unicodedata

import ada_url

SCHEMES = ["http", "https", "ws", "wss", "ftp", "file", "HTTP", "hTtPs", "foo", "data", "mailto", "javascript", "a+b-c.1",
           "blob", "1http", "ht tp", "", "about", "non-special", "File"]
SLASHES = ["//"] * 12 + ["/", "", "///", "\\\\", "/\\", "\\", "////", "//\t/", "/\n/"]
HOSTS = [
    "example.com", "EXAMPLE.com", "a.b.c", "localhost", "example.com.", "example..com", ".example.com", "", ".", "..",
    "127.0.0.1", "127.1", "0x7f.1", "0177.0.0.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.1.", "1.2.3.4.5",
    "256.256.256.256", "255.255.255.255", "4294967296", "4294967295", "0x", "0x.0x.0", "1.0x", "08", "1.08", "0", "00", "1..2",
    "127.0.0.0x1", "127.0.0.1foo", "foo.1", "foo.0x4", "foo.09", "foo.0x", "1.2.3", "1.2", "192.0x00A80001", "999999999999",
    "[::1]", "[::]", "[1::]", "[1:2:3:4:5:6:7:8]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[1::2::3]", "[:1]", "[1:]", "[1:2]",
    "[::1%25eth0]", "[::1%eth0]", "[fe80::1]", "[FE80::ABCD]", "[0:0:0:1:0:0:0:0]", "[1:0:0:2:0:0:0:3]", "[::12345]",
    "[::1.2.3]", "[::1.2.3.256]", "[::01.2.3.4]", "[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:7:1.2.3.4]", "[::g]", "[", "[]", "]",
    "[::1", "::1]", "[::1]x", "x[::1]", "[::1]:80", "[64:ff9b::127.0.0.1]", "[v1.a]",
    "%31%32%37.0.0.1", "ex%61mple.com", "ex%2eample.com", "%00", "a%00b", "a%20b", "a%25b", "a%zzb", "%", "a%2", "a%C3%A9b",
    "%ff.com", "%e2%98%83.net", "a_b.com", "a-b.com", "-a-.com", "a--b.com", "ab--c.com", "a*b.com", "a!b", "a$b", "a&b", "a'b",
    "a(b)", "a+b", "a,b", "a;b", "a=b", "a~b", "a`b", "a{b}", "a|b", "a^b", "a<b", "a>b", 'a"b', "a b", "a\x01b", "a\x7fb", "a\tb",
    "a\nb", "a\\b", "a#b", "a?b", "a/b", "a@b", "a:b",
    "xn--a", "xn--", "xn--fa-hia.de", "XN--FA-HIA.de", "xn--zca", "xn--i-7iq.ws", "xn--a-ecp.ru", "xn--0.pt", "xn--pokxncvks",
    "xn--ls8h.la", "a.xn--zca.b", "xn--bb-eka.at", "xn--9ca", "xn--a-9ca", "xn--\u00e9",
    "\u00e9.com", "\u00c9.com", "fa\u00df.de", "\u1e9e.de", "\u2603.net", "\U0001f600.com", "\uff11\uff12\uff17.0.0.1",
    "127\u30020\u30020\u30021", "\uff10\uff58\uff17\uff46.1", "a\u00adb.com", "\u00ad", "\u200b", "a\u200db.com", "\u05d0.com",
    "\u05d0a.com", "\u0661.com", "1.\uff12.3.4", "\uff0f.com", "a\uff05b.com", "\u2024com", "a\uff0eb", "\u2488com", "\u212a.com",
    "\u0130.com", "\u0131.com", "\u03c2.gr", "\u3002com", "a\u3002", "\ufffd.com", "\ufdd0.com", "\U000e0001.com", "\ufb01.com",
    "\u0301a.com", "e\u0301.com", "\u1100\u1161.kr", "\u65e5\u672c.jp", "\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444",
    "\u0627\u0644.com", "\u0915\u094d\u200d\u0937.in", "\u00e9-.com", "-\u00e9.com", "ab--\u00e9.com", "\u2260.com", "a\u226eb.com",
    "\u00bc.com", "\u2100.com", "a\u2025b.com", "\u00b7.com", "l\u00b7l.cat", "\u30fb.jp", "\u30ab\u30fb\u30ab.jp", "\u0660\u06f0.com",
]
USERS = [""] * 8 + ["u@", "u:p@", ":@", "@", "u:@", ":p@", "a@b@", "a:b:c@", "u%40@", "u p@", "\u00e9@", "u;=@", "u^|@", "u\\@", "[@", "u'@"]
PORTS = [""] * 8 + [":", ":80", ":443", ":0", ":65535", ":65536", ":00080", ":8080", ":8a", ":-1", ": 80", ":\t8\n0", ":21", ":99999999999"]
SEGMENTS = ["a", "b", "..", ".", "%2e", "%2E%2e", ".%2e", "%2e.", "...", "", "a b", "\u00e9", "%zz", "%", "%41", "C:", "c|", "C:x", "a^b",
            "a|b", "a`b", "{x}", '"', "<>", "'", ";x", "a:b", "@", "[", "]", "~", "\x01", "\x7f", "\U0001f600", "%2f", "%5c", "%00", "&", "="]
ENDS = [""] * 4 + ["?", "#", "?q", "#f", "?q#f", "?a=b&c='d'", "?\u00e9#\u00e9", "? #`", "?#", "#?", "?<>\"'`{}^|", "#<>\"'`{}^|", "?%zz#%zz", "?\\#\\", " ", " #f", " ?q"]
AROUND = ["", "", "", "", " ", "\t", "\x00", "\n ", "\x1f"]
BASES = ["http://h.example/a/b?q#f", "https://u:p@h.example:8443/a/b/", "file:///C:/x/y", "file:///x/y", "file://host/C:/d", "foo://h/a/b",
         "foo:/a/b", "data:text/plain,x", "http://h.example", "file:///C:", "foo:///a", "foo:/.//p", "mailto:a@b", "ws://h/"]
ALPHABET = "abAB019.-_~%/\\?#@:;[]{}|^`'\"<> &=+$,!*()\t\n\x00\x7f\u00e9\u00df\uff0e\u3002\u00ad\u200d"


def path(rng, backslash):
    out = []
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
        out.append("\\" if backslash and rng.random() < 0.2 else "/")
        out.append(rng.choice(SEGMENTS))
    return "".join(out)


def host(rng):
    text = rng.choice(HOSTS)
    roll = rng.random()
    if roll < 0.1 and text:  # one character escaped, or made full-width
        i = rng.randrange(len(text))
        escaped = "".join("%%%02x" % b for b in text[i].encode("utf-8"))
        wide = chr(ord(text[i]) + 0xFEE0) if 0x21 <= ord(text[i]) <= 0x7E else text[i]
        text = text[:i] + rng.choice([escaped, wide]) + text[i + 1:]
    elif roll < 0.25:
        text = ".".join(rng.choice(["0x", "0", "", "0X", "00"]) + format(rng.randrange(rng.choice([8, 300, 70000, 2**33])),
                                                                         rng.choice(["d", "o", "x", "X"]))
                        for _ in range(rng.randrange(1, 6))) + rng.choice(["", "", "."])
    elif roll < 0.35:
        groups = [rng.choice(["0", "0", "1", "ffff", "abcd", "0db8", "", "127.0.0.1"]) for _ in range(rng.randrange(1, 10))]
        text = "[" + ":".join(groups) + "]"
    elif roll < 0.45:
        text = "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(1, 8))) + rng.choice(["", ".com"])
    return text


def made(rng):
    """One URL, and what it is relative to or None."""
    base = rng.choice(BASES) if rng.random() < 0.3 else None
    if rng.random() < 0.15:
        text = "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(0, 20)))
        return rng.choice(["", "http:", "http://", "file:", "foo:", "data:", "https://h/"]) + text, base
    if base is not None and rng.random() < 0.7:
        text = rng.choice(["", "/", "//" + host(rng), "\\", "?", "#", "C|/", "/C:/", "http:", "file:", "foo:"]) + path(rng, True)
        return text + rng.choice(ENDS), base
    scheme = rng.choice(SCHEMES[:6]) if rng.random() < 0.7 else rng.choice(SCHEMES)
    text = scheme + ":" + rng.choice(SLASHES) + rng.choice(USERS) + host(rng) + rng.choice(PORTS) + path(rng, True) + rng.choice(ENDS)
    if rng.random() < 0.05:
        i = rng.randrange(len(text) + 1)
        text = text[:i] + rng.choice(["\t", "\n", "\r", " ", "\x00"]) + text[i:]
    return rng.choice(AROUND) + text + rng.choice(AROUND), base


def swept():
    """Every code point in a host, alone and between letters."""
    for point in range(0x80, 0x110000):
        if 0xD800 <= point < 0xE000 or unicodedata.category(chr(point)) == "Co" or 0x20000 <= point < 0xE0000 and point % 64:
            continue
        yield "http://a%sb.com/" % chr(point), None


def ada_says(text, base):
    try:
        url = ada_url.URL(text, base) if base is not None else ada_url.URL(text)
    except ValueError:
        return None
    return url.protocol[:-1], url.hostname, url.href


def parley_says(program, cases):
    def encoded(text):
        return base64.b64encode(text.encode("utf-8")).decode()

    lines = [encoded(text) + (" " + encoded(base) if base is not None else "") for text, base in cases]
    run = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers = run.stdout.split("\n")[:-1]
    assert len(answers) == len(cases), "one answer a line"
    for answer in answers:
        if answer.startswith("fail "):
            yield None
        else:
            scheme, kind, host_text, href = answer.split("\t")
            yield scheme, host_text, href


def explained(text, parley, ada):
    """The name of a known difference, or None. Only a refusal can be explained, another host never."""
    if parley is not None:
        return None
    if "xn--" in ada[1]:
        # Among them the few labels of punycode that Ada takes against the standard, such as xn--a-9ca.
        return "refused: a label that IDNA 2008 does not allow, or that libidn2's Unicode does not know"
    if not text.isascii():
        return "refused: an ASCII host spelled with characters that libidn2 does not map, or with hyphens IDNA 2008 forbids"
    return None


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    cases = [made(rng) for _ in range(count)]
    cases += [("http://" + h + "/", None) for h in HOSTS] + [("foo://" + h + "/", None) for h in HOSTS]
    generated = len(cases)
    cases += swept()
    same = refused = 0
    known = collections.Counter()
    wrong = []
    for i, ((text, base), parley) in enumerate(zip(cases, parley_says(program, cases))):
        ada = ada_says(text, base)
        if parley == ada:
            same += 1
            refused += ada is None
            continue
        reason = explained(text, parley, ada)
        if reason is None:
            wrong.append((text, base, parley, ada))
        else:
            known[reason + (" (sweep)" if i >= generated else "")] += 1
    print("urls.py: %d URLs and %d hosts of one odd character: %d the same (%d of them refused)"
          % (generated, len(cases) - generated, same, refused))
    for reason, times in known.most_common():
        print("urls.py: %6d %s" % (times, reason))
    for text, base, parley, ada in wrong[:40]:
        print("urls.py: %a relative to %a: Parley says %a, Ada says %a" % (text, base, parley, ada))
    if wrong:
        sys.exit("urls.py: %d differences without an explanation" % len(wrong))


main()
