// SCTP without a kernel that implements it: INIT packets over raw sockets of Perl, which every Debian has.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const castagnoli = 0x82f63b78

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ castagnoli : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

/** An INIT: the first packet of an association. */
export function initPacket(sourcePort: number, destinationPort: number): Buffer {
  const packet = Buffer.alloc(32)
  packet.writeUInt16BE(sourcePort, 0)
  packet.writeUInt16BE(destinationPort, 2)
  packet.writeUInt8(1, 12) // the chunk INIT
  packet.writeUInt16BE(20, 14) // its length
  packet.writeUInt32BE(0x1234, 16) // the initiate tag
  packet.writeUInt32BE(65_536, 20) // the window
  packet.writeUInt16BE(1, 24) // streams
  packet.writeUInt16BE(1, 26)
  packet.writeUInt32LE(crc32c(packet), 8)
  return packet
}

const sender = `
use Socket qw(:all);
my ($address, $hex) = @ARGV;
my $six = $address =~ /:/;
socket(my $s, $six ? PF_INET6 : PF_INET, SOCK_RAW, 132) or die $!;
my $to = $six ? pack_sockaddr_in6(0, inet_pton(AF_INET6, $address)) : pack_sockaddr_in(0, inet_pton(AF_INET, $address));
connect($s, $to) or die $!;
setsockopt($s, $six ? 41 : 0, $six ? 25 : 11, pack("i", 1)); # errors of ICMP are reported
send($s, pack("H*", $hex), 0) or die $!;
my $in = ""; vec($in, fileno($s), 1) = 1;
if (select($in, undef, undef, $ARGV[2])) { recv($s, my $b, 4096, 0); print $!{ECONNREFUSED} || $!{EHOSTUNREACH} || $! ? "refused" : "response" } else { print "silent" }
`

const receiver = `
use Socket qw(:all);
$| = 1;
socket(my $s, $ARGV[0] eq "IPv6" ? PF_INET6 : PF_INET, SOCK_RAW, 132) or die $!;
print "ready\\n";
while (1) { recv($s, my $b, 4096, 0); my $at = $ARGV[0] eq "IPv6" ? 0 : (ord($b) & 15) * 4;
  my ($from, $to) = unpack("nn", substr($b, $at)); print "$to\\n" if ord(substr($b, $at + 12)) == 1 }
`

const perl = (pid: number, program: string, args: readonly string[]): ChildProcess =>
  spawn('nsenter', ['-t', String(pid), '-n', 'perl', '-e', program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })

/** Sends an INIT from a namespace; `refused` if an ICMP error arrives within the time. */
export async function sendInit(pid: number, address: string, port: number, waitSeconds: number): Promise<string> {
  const packet = initPacket(40_000 + Math.floor(port / 2), port)
  const child = perl(pid, sender, [address, packet.toString('hex'), String(waitSeconds)])
  let text = ''
  child.stdout?.on('data', (bytes: Buffer) => (text += bytes.toString()))
  await once(child, 'close')
  return text
}

/** Receives INITs in a namespace; `ports` are those to which they were sent. */
export async function receiveInits(pid: number, family: 'IPv4' | 'IPv6') {
  const child = perl(pid, receiver, [family])
  const ports: number[] = []
  const ready = Promise.withResolvers<void>()
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) =>
      line === 'ready' ? ready.resolve() : ports.push(Number(line)),
    )
  await ready.promise
  return { ports, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}
