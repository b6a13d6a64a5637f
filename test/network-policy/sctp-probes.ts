// SCTP without a kernel that implements it: one process with raw sockets in the namespaces of all pods sends INIT packets
// and reports those that arrive. Perl can enter namespaces, which Node.js cannot.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { realClock } from '../../src/base/time/clock.ts'
import { initPacket } from '../proxy/sctp.ts'

const program = `
use Socket qw(:all); use Config;
$| = 1;
my $setns = $Config{archname} =~ /aarch64/ ? 268 : 308;
my (%send, %receive);
for my $pid (@ARGV) {
  open(my $ns, "<", "/proc/$pid/ns/net") or die $!;
  syscall($setns, fileno($ns), 0x40000000) == 0 or die $!;
  for my $six (0, 1) {
    socket(my $s, $six ? PF_INET6 : PF_INET, SOCK_RAW, 132) or die $!;
    $send{"$pid $six"} = $s;
  }
}
print "ready\\n";
my $rest = "";
while (1) {
  my $in = ""; vec($in, 0, 1) = 1; vec($in, fileno($_), 1) = 1 for values %send;
  select(my $out = $in, undef, undef, undef);
  for my $key (keys %send) {
    next unless vec($out, fileno($send{$key}), 1);
    recv($send{$key}, my $b, 4096, 0); my ($pid, $six) = split / /, $key;
    my $at = $six ? 0 : (ord($b) & 15) * 4;
    my ($from, $to) = unpack("nn", substr($b, $at)); print "$pid $six $from $to\\n" if ord(substr($b, $at + 12)) == 1;
  }
  next unless vec($out, 0, 1);
  sysread(STDIN, my $text, 65536) or exit; $rest .= $text;
  while ($rest =~ s/^(.*)\\n//) {
    my ($pid, $address, $hex) = split / /, $1; my $six = $address =~ /:/ ? 1 : 0;
    my $to = $six ? pack_sockaddr_in6(0, inet_pton(AF_INET6, $address)) : pack_sockaddr_in(0, inet_pton(AF_INET, $address));
    send($send{"$pid $six"}, pack("H*", $hex), 0, $to);
  }
}
`

export async function startSctp(pids: readonly number[]) {
  const child = spawn('perl', ['-e', program, ...pids.map(String)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ready = Promise.withResolvers<void>()
  const waiting = new Map<string, () => void>()
  createInterface({ input: child.stdout }).on('line', (line) =>
    line === 'ready' ? ready.resolve() : waiting.get(line)?.(),
  )
  await ready.promise
  let sourcePort = 20_000
  return {
    /** Whether an INIT from a namespace arrives in another one within the time. */
    async arrives(from: number, to: number, address: string, port: number, waitMs: number): Promise<boolean> {
      const own = (sourcePort = sourcePort >= 60_000 ? 20_000 : sourcePort + 1)
      const key = `${to} ${address.includes(':') ? 1 : 0} ${own} ${port}`
      const result = Promise.withResolvers<boolean>()
      waiting.set(key, () => result.resolve(true))
      const timer = realClock.after(waitMs, () => result.resolve(false))
      child.stdin.write(`${from} ${address} ${initPacket(own, port).toString('hex')}\n`)
      const arrived = await result.promise
      timer.cancel()
      waiting.delete(key)
      return arrived
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

export type Sctp = Awaited<ReturnType<typeof startSctp>>
