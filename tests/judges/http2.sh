#!/usr/bin/env bash
# Asks a model over HTTP/2, which Node's own server speaks: connections are used again, and left when the server leaves
# them; a large request, and a stream that breaks.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)
command -v node >/dev/null || give_up "needs node"

cd "$work"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out certificate.pem -days 2 \
  -subj /CN=parley -addext subjectAltName=IP:127.0.0.1 2>/dev/null
coproc server { exec node "$root/tests/judges/http2.js" key.pem certificate.pem; }
read -r -t 60 url <&"${server[0]}" || give_up "the server does not start"

export HOME=$work SSL_CERT_FILE=certificate.pem
echo one >line
printf 'one\ntwo\nthree\n' >lines
{ head -c 300000 /dev/zero | tr '\0' x; echo; } >large

# talk DOING FILE: what was said, and what the server saw of it.
talk() {
  echo "== $1 $2"
  PARLEY_BASE_URL=$url/$1 timeout 60 "$parley" chat -q -m compatible/m --store memory: <"$2" 2>/dev/null || echo "exit $?"
  while read -r -t 0.5 line <&"${server[0]}"; do echo "$line"; done
}
{
  talk good lines
  talk good large
  talk leaves lines
  talk breaks line
} >heard

diff -u --label expected --label heard - heard <<'END'
== good lines
Hello
Hello
Hello
2.0 0 small
2.0 0 small
2.0 0 small
== good large
Hello
2.0 1 large
== leaves lines
Hello
Hello
Hello
2.0 2 small
2.0 3 small
2.0 4 small
== breaks line
Hel
exit 3
2.0 5 small
END
echo "http2: four talks with Node's server, as expected"
