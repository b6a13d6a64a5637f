// Makes the container image of Coxswain for this machine's architecture: `node scripts/image.mjs <file.tar>`. It consists of
// Debian's packages, the executable and kubectl, and its entry point has the contract of k3s' image. It needs no Docker: the
// packages are unpacked without being run, and the layers are written here, so the same packages give the same bytes.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildImage, imageArchive } from '../src/wire/oci/oci-image.ts'
import { fetchPackages } from './debian-archive.mjs'
import { makeExecutable } from './executable.mjs'
import { fetchKubectls, findKubectls, hasFetchedKubectl } from './kubectl.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

const suite = 'trixie'
/** Those that the executable and a node with real containers need, and a shell for those who look into the container. */
export const packages = [
  ...['base-files', 'ca-certificates', 'conntrack', 'containerd', 'containernetworking-plugins', 'coreutils', 'dash'],
  ...['grep', 'gzip', 'iproute2', 'libatomic1', 'libstdc++6', 'mount', 'nftables', 'procps', 'runc', 'sed', 'tar'],
  ...['tini', 'util-linux'],
]

/** What no program of the image reads. The licenses stay. */
const unused = [
  /^usr\/bin\/containerd-(shim|shim-runc-v1|stress)$/,
  /^boot(\/|$)/,
  /^usr\/lib\/systemd(\/|$)/,
  /^usr\/share\/(bash-completion|doc-base|gcc|gdb|info|lintian|locale|man|perl5|zsh)(\/|$)/,
  /^usr\/share\/doc\/.+\/(?!copyright$)[^/]+$/,
  /^etc\/(cron\.d|init\.d|pam\.d|skel|update-motd\.d)(\/|$)/,
]

/** Where `coxswain k3s` has the containerd of its node. */
const dataFolder = '/var/lib/rancher/k3s'
const environment = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  `CONTAINERD_ADDRESS=${dataFolder}/server/node/containerd/containerd.sock`,
  'CONTAINERD_NAMESPACE=k8s.io',
  'KUBECONFIG=/etc/rancher/k3s/k3s.yaml',
]

const text = (content) => Buffer.from(content)
/** The set-user-ID bits of mount, su and others are of no use: root needs none, and others get no rights. */
const permissions = 0o1777

/** The entries of a folder and all below it, sorted by path, as root's. Links to folders are not followed. */
function entriesOf(folder, below = '') {
  return readdirSync(join(folder, below))
    .toSorted()
    .map((name) => join(below, name))
    .filter((path) => !unused.some((pattern) => pattern.test(path)))
    .flatMap((path) => {
      const file = join(folder, path)
      const info = lstatSync(file)
      if (info.isSymbolicLink()) return [{ path, link: readlinkSync(file) }]
      const mode = info.mode & permissions
      if (info.isDirectory()) return [{ path: `${path}/`, mode }, ...entriesOf(folder, path)]
      return [{ path, mode, content: readFileSync(file) }]
    })
}

/** The root file system of the packages. Their scripts are not run, so what these would make is made here. */
function debianLayer(work) {
  const failure = fetchPackages(packages, suite, work)
  if (failure !== undefined) throw new Error(`Debian ${suite}: ${failure}`)
  const unpacked = join(work, 'root')
  const described = readdirSync(join(work, 'archives'))
    .filter((name) => name.endsWith('.deb'))
    .toSorted()
    .map((name) => {
      const file = join(work, 'archives', name)
      execFileSync('dpkg-deb', ['--extract', file, unpacked])
      const fields = execFileSync('dpkg-deb', ['--field', file], { encoding: 'utf8' })
      return { path: `var/lib/dpkg/status.d/${name.split('_')[0]}`, content: text(fields) }
    })
  const authorities = join(unpacked, 'usr', 'share', 'ca-certificates', 'mozilla')
  const certificates = readdirSync(authorities)
    .toSorted()
    .map((name) => readFileSync(join(authorities, name)))
  return [
    ...entriesOf(unpacked).filter(({ path }) => path !== 'var/lib/dpkg/'),
    { path: 'etc/group', content: text('root:x:0:\n') },
    // Runtimes mount their own there; containerd needs some.
    { path: 'etc/hosts', content: text('127.0.0.1 localhost\n::1 localhost\n') },
    { path: 'etc/nsswitch.conf', content: text('passwd: files\ngroup: files\nhosts: files dns\n') },
    { path: 'etc/passwd', content: text('root:x:0:0:root:/root:/bin/sh\n') },
    { path: 'etc/resolv.conf', content: text('') },
    { path: 'etc/ssl/certs/ca-certificates.crt', content: Buffer.concat(certificates) },
    // Scanners find the packages of images without dpkg there.
    { path: 'var/lib/dpkg/' },
    { path: 'var/lib/dpkg/status.d/' },
    ...described,
  ]
}

function kubectlPath() {
  if (!hasFetchedKubectl(root)) fetchKubectls(root, (line) => console.error(line))
  const newest = findKubectls(root).at(-1)
  if (newest === undefined) throw new Error('there is no kubectl: npm run setup')
  return newest.path
}

async function ownLayer(work) {
  const executable = join(work, 'coxswain')
  const { licenses } = await makeExecutable(executable)
  return [
    // A process of any user makes its files there; other users cannot replace them.
    { path: 'etc/rancher/' },
    { path: 'etc/rancher/k3s/', mode: 0o1777 },
    { path: 'usr/bin/coxswain', mode: 0o755, content: readFileSync(executable) },
    { path: 'usr/bin/kubectl', mode: 0o755, content: readFileSync(kubectlPath()) },
    ...['kubectl-coxswain', 'kubectl-flow', 'kubectl-why'].map((name) => ({
      path: `usr/bin/${name}`,
      link: 'coxswain',
    })),
    { path: 'usr/share/doc/coxswain/' },
    { path: 'usr/share/doc/coxswain/copyright', content: readFileSync(join(root, 'LICENSE')) },
    { path: 'usr/share/doc/coxswain/third-party-licenses.txt', content: text(licenses) },
    { path: 'var/lib/rancher/' },
    { path: `${dataFolder.slice(1)}/`, mode: 0o1777 },
  ]
}

/** The image of the layers of Debian's packages and of Coxswain. */
export const imageDescription = (lowerLayer, files) => ({
  architecture,
  lowerLayers: [lowerLayer],
  files,
  // The first process of a container gets the orphaned ones of others, such as those of containerd.
  entrypoint: ['/usr/bin/tini', '--', '/usr/bin/coxswain', 'k3s'],
  command: ['server'],
  environment,
  ports: [6443, 8443],
  // overlayfs, on which containers usually are, cannot be stacked.
  volumes: [dataFolder],
})

/** Writes the archive; returns the name of its image. */
export async function makeImage(file) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const name = `docker.io/library/coxswain:${version}`
  const work = mkdtempSync(join(tmpdir(), 'coxswain-image-'))
  try {
    const description = imageDescription(debianLayer(work), await ownLayer(work))
    const image = buildImage(description, (bytes) => createHash('sha256').update(bytes).digest('hex'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, imageArchive(image, name))
    return name
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file] = process.argv
  if (file === undefined) {
    console.error('usage: node scripts/image.mjs <file.tar>')
    process.exitCode = 2
  } else console.log(await makeImage(resolve(file)))
}
