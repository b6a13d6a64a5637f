// The images that the suite runs, as data: which layers each has, and its configuration. Their names and versions are those
// of the suite; their files are from Debian's packages and the suite's executables.

/** A file of a layer: text, or the path of a file to copy. Directories are created as needed. */
export interface LayerFile {
  readonly path: string
  readonly content?: string | Uint8Array
  readonly source?: string
  readonly link?: string
  readonly mode?: number
}

export interface ImageSpec {
  readonly name: string
  /** Executables of the suite that it contains; without one of them it cannot be built. */
  readonly needs: readonly string[]
  readonly base: 'debian' | 'busybox'
  /** The files of each layer above the base. Equal layers of several images are stored once. */
  readonly layers: readonly (readonly LayerFile[])[]
  readonly config: object
}

const registry = 'registry.k8s.io'
const suite = `${registry}/e2e-test-images`

/** Packages of the Debian layer. Commands of pods in the suite use the first ones. */
export const debianPackages: readonly string[] = [
  ...['bash', 'curl', 'dnsutils', 'netcat-openbsd', 'iproute2', 'iptables', 'iputils-ping', 'iperf', 'procps', 'wget'],
  ...['conntrack', 'busybox-static', 'nginx-light', 'perl', 'stress', 'util-linux', 'ca-certificates'],
]

const ports = (...numbers: readonly number[]): object =>
  Object.fromEntries(numbers.map((number) => [`${number}/tcp`, {}]))

const user = 'user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh'
const groups = 'user-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image'

const nginxConfiguration = `worker_processes 1;
events { worker_connections 1024; }
http {
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  access_log /dev/stdout;
  error_log /dev/stderr;
  server {
    listen 80;
    root /usr/share/nginx/html;
    index index.html;
  }
}
`
const nginxPage = '<!DOCTYPE html>\n<html><head><title>Welcome to nginx!</title></head><body>nginx</body></html>\n'

/** Waits until it is asked to stop. */
const pauseScript = '#!/bin/sh\ntrap "exit 0" TERM INT\nsleep infinity &\nwait\n'

export const pauseImage: ImageSpec = {
  name: `${registry}/pause:3.10.2`,
  needs: [],
  base: 'busybox',
  layers: [[{ path: 'pause', content: pauseScript, mode: 0o755 }]],
  config: { Entrypoint: ['/pause'], User: '65535:65535' },
}

export interface RegistryBlob {
  readonly digest: string
  readonly content: Uint8Array
}

/** Files from which agnhost serves `pause:testing` as a registry. */
export function registryFiles(manifest: RegistryBlob, blobs: readonly RegistryBlob[]): readonly LayerFile[] {
  const data = (folder: string, { digest, content }: RegistryBlob): LayerFile => {
    const hex = digest.replace(/^sha256:/, '')
    return { path: `var/registry/pause/${folder}/sha256/${hex.slice(0, 2)}/${hex}/data`, content }
  }
  return [
    { path: 'var/registry/pause/manifests/testing', content: manifest.digest },
    data('manifests', manifest),
    ...blobs.map((blob) => data('blobs', blob)),
  ]
}

export interface CatalogInputs {
  /** The path of an executable of the suite. */
  readonly executable: (name: string) => string
  /** The text of a file of the Debian tree. */
  readonly debianText: (path: string) => string
  /** A certificate and key for `localhost`, in PEM. */
  readonly certificate: { readonly certificate: string; readonly key: string }
  /** The files of the registry in agnhost. */
  readonly registryContent: readonly LayerFile[]
}

export function imageCatalog({
  executable,
  debianText,
  certificate,
  registryContent,
}: CatalogInputs): readonly ImageSpec[] {
  const agnhostFiles: readonly LayerFile[] = [
    { path: 'agnhost', source: executable('agnhost'), mode: 0o755 },
    { path: 'agnhost-2', link: 'agnhost' },
    { path: 'uploads/' },
    { path: 'localhost.crt', content: certificate.certificate },
    { path: 'localhost.key', content: certificate.key },
    { path: 'usr/local/bin/iperf', link: '/usr/bin/iperf' },
    // A spec reads it and expects the distribution of the original image.
    { path: 'etc/os-release', content: 'NAME="Alpine Linux"\nID=alpine\nPRETTY_NAME="Debian, not Alpine Linux"\n' },
    { path: 'etc/passwd', content: `${debianText('etc/passwd')}${user}\n` },
    { path: 'etc/group', content: `${debianText('etc/group')}${groups}\n` },
    ...registryContent,
  ]
  const agnhost = (tag: string, more: readonly LayerFile[], config: object = {}): ImageSpec => ({
    name: `${suite}/${tag}`,
    needs: ['agnhost'],
    base: 'debian',
    layers: more.length === 0 ? [agnhostFiles] : [agnhostFiles, more],
    config: { Entrypoint: ['/agnhost'], Cmd: ['pause'], ExposedPorts: ports(80, 8080, 8081, 9376, 5000), ...config },
  })
  const pictured = (name: string) =>
    agnhost(`${name}:1.8`, [{ path: 'data.json', content: `{\n"image": "${name}.jpg"\n}\n` }], {
      Cmd: ['test-webserver'],
    })
  const nginx = (tag: string): ImageSpec =>
    debian(
      `${suite}/nginx:${tag}`,
      [],
      [
        { path: 'usr/share/nginx/html/index.html', content: nginxPage },
        { path: 'etc/nginx/nginx.conf', content: nginxConfiguration },
        // Two tags of the suite must be different images.
        { path: 'etc/nginx/tag', content: tag },
      ],
      { Cmd: ['nginx', '-g', 'daemon off;'], ExposedPorts: ports(80), StopSignal: 'SIGQUIT' },
    )
  const program = (name: string, path = name, mode = 0o755): LayerFile => ({ path, source: executable(name), mode })
  const shell = { Cmd: ['sh'] }
  return [
    agnhost('agnhost:2.63.0', []),
    agnhost('agnhost:2.55', [{ path: 'etc/previous', content: '' }]),
    pictured('kitten'),
    pictured('nautilus'),
    { name: `${suite}/busybox:1.37.0-1`, needs: [], base: 'busybox', layers: [], config: shell },
    nginx('1.15-4'),
    nginx('1.27-0'),
    debian(`${suite}/nonewprivs:1.4`, ['nonewprivs'], [program('nonewprivs', 'usr/local/bin/nnp', 0o6755)], {
      Cmd: ['nnp'],
    }),
    debian(`${suite}/nonroot:1.5`, [], [], { ...shell, User: '1234' }),
    debian(`${suite}/perl:5.26`, [], [], { Cmd: ['perl', '-de0'] }),
    debian(`${suite}/ipc-utils:1.4`, [], [], shell),
    debian(`${suite}/glibc-dns-testing:2.0.0`, [], [], { Cmd: ['bash'] }),
    debian(`${registry}/build-image/distroless-iptables:v0.9.6`, [], [], shell),
    debian(`${suite}/regression-issue-74839:1.4`, ['regression-issue-74839'], [program('regression-issue-74839')], {
      Entrypoint: ['/regression-issue-74839'],
    }),
    debian(
      `${suite}/resource-consumer:1.14`,
      ['resource-consumer', 'consume-cpu'],
      [program('resource-consumer', 'consumer'), program('consume-cpu', 'consume-cpu/consume-cpu')],
      { Entrypoint: ['/consumer'], ExposedPorts: ports(8080) },
    ),
    debian(`${suite}/sample-apiserver:1.29.2`, ['sample-apiserver'], [program('sample-apiserver')], {
      Entrypoint: ['/sample-apiserver'],
    }),
    debian(`${registry}/etcd:3.6.8-0`, ['etcd'], [program('etcd', 'usr/local/bin/etcd')], {
      ExposedPorts: ports(2379, 2380, 4001, 7001),
    }),
    pauseImage,
  ]
}

const debian = (name: string, needs: readonly string[], files: readonly LayerFile[], config: object): ImageSpec => ({
  name,
  needs,
  base: 'debian',
  layers: files.length === 0 ? [] : [files],
  config,
})

const busyboxUsers = [
  'root:x:0:0:root:/root:/bin/sh',
  'daemon:x:1:1::/usr/sbin:/bin/false',
  'bin:x:2:2::/bin:/bin/false',
]
const busyboxMore = ['www-data:x:33:33::/var/www:/bin/false', 'nobody:x:65534:65534::/home:/bin/false']
const busyboxGroups = [
  'root:x:0:',
  'daemon:x:1:',
  'bin:x:2:',
  'tty:x:5:',
  'www-data:x:33:',
  'users:x:100:',
  'nobody:x:65534:',
]

/** The layer of busybox alone: every applet is a link to it. */
export const busyboxLayer = (busybox: string, applets: readonly string[]): readonly LayerFile[] => [
  ...['dev', 'home', 'lib', 'proc', 'sys', 'usr/bin', 'usr/sbin', 'var/spool'].map((path) => ({ path: `${path}/` })),
  { path: 'root/', mode: 0o700 },
  { path: 'tmp/', mode: 0o1777 },
  { path: 'bin/busybox', source: busybox, mode: 0o755 },
  ...applets.filter((name) => name !== 'busybox').map((name) => ({ path: `bin/${name}`, link: 'busybox' })),
  { path: 'etc/passwd', content: `${[...busyboxUsers, ...busyboxMore].join('\n')}\n` },
  { path: 'etc/group', content: `${busyboxGroups.join('\n')}\n` },
]
