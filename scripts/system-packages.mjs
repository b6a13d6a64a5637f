// Programs and files of the system that the tests use, installed on Debian and Ubuntu as root when they are missing.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Each program, the package that contains it, and the tests that need it. */
const programs = [
  { command: 'strace', package: 'strace', for: 'the order of sync and acknowledgement in the store' },
  { command: 'containerd', package: 'containerd', for: 'real containers' },
  { command: 'runc', package: 'runc', for: 'real containers' },
  { command: 'busybox', package: 'busybox-static', for: 'images of real containers' },
  { file: '/usr/lib/cni/bridge', package: 'containernetworking-plugins', for: 'the network of real containers' },
  { command: 'ip', package: 'iproute2', for: 'the network of pods' },
  { command: 'nft', package: 'nftables', for: 'Services and the network of pods' },
  { command: 'conntrack', package: 'conntrack', for: 'UDP connections to endpoints that are gone' },
  { command: 'iptables', package: 'iptables', for: 'host firewalls that drop forwarded packets' },
  { command: 'dig', package: 'bind9-dnsutils', for: 'DNS, asked by an independent client' },
  { command: 'dnsmasq', package: 'dnsmasq-base', for: 'an upstream DNS server, and the benchmark of DNS' },
  { command: 'debootstrap', package: 'debootstrap', for: 'images of the conformance suite' },
  { command: 'make', package: 'build-essential', for: 'busybox, which images of the conformance suite contain' },
  { command: 'bzip2', package: 'bzip2', for: 'the source of busybox' },
  { command: 'xz', package: 'xz-utils', for: 'executables of the conformance suite' },
  { command: 'curl', package: 'curl', for: 'the request path, used by clients of other people' },
  { command: 'wrk', package: 'wrk', for: 'the request path, used by clients of other people' },
  { command: 'h2load', package: 'nghttp2-client', for: 'the request path, used by clients of other people' },
  { command: 'etcd', package: 'etcd-server', for: 'the store on etcd' },
  { command: 'etcdctl', package: 'etcd-client', for: 'snapshots of etcd, restored by its own program' },
  { command: 'chromium', package: 'chromium', for: 'the web UI' },
  {
    file: '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
    package: 'fonts-dejavu-core',
    for: 'screenshots of the web UI, which are compared with stored ones',
  },
]

const installSecondsMax = 300

const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']
const isThere = ({ command, file }) =>
  file === undefined ? folders.some((folder) => existsSync(`${folder}/${command}`)) : existsSync(file)

/** Installs missing programs; returns those that are still missing, with the reason. */
export function installMissing(log) {
  const missing = programs.filter((program) => !isThere(program))
  if (missing.length === 0) return []
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return missing.map((program) => ({ ...program, why: `install it for ${program.for}` }))
  log(`installing ${missing.map((program) => program.package).join(', ')} from Debian's packages`)
  const names = missing.map((program) => program.package)
  // An outdated package list may name versions that were removed: refresh it and try once more.
  const reason = aptGet(['install', ...names]) && (aptGet(['update']) ?? aptGet(['install', ...names]))
  return missing.filter((program) => !isThere(program)).map((program) => ({ ...program, why: reason ?? 'unknown' }))
}

function aptGet(args) {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options = { encoding: 'utf8', timeout: installSecondsMax * 1000, env: environment }
  const { status, stderr, error } = spawnSync('apt-get', ['-qq', '-y', '--no-install-recommends', ...args], options)
  return status === 0 ? undefined : (error?.message ?? stderr.trim().split('\n').at(-1))
}
