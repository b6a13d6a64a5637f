// Images of Debian's static busybox, built here: a shell and its tools, without an external registry.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { buildImage, type BuiltImage, type ImageDescription } from '../../src/wire/oci/oci-image.ts'

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

const tools = [
  ...[
    'sh',
    'cat',
    'cp',
    'date',
    'echo',
    'env',
    'false',
    'grep',
    'hostname',
    'httpd',
    'id',
    'kill',
    'ls',
    'mkdir',
    'mount',
  ],
  ...[
    'nc',
    'printf',
    'ps',
    'sed',
    'seq',
    'sha256sum',
    'sleep',
    'stat',
    'stty',
    'tar',
    'test',
    'tail',
    'touch',
    'trap',
    'true',
    'wget',
  ],
]

export function busybox(more: Partial<ImageDescription> = {}): BuiltImage {
  const files = [
    { path: 'bin/' },
    { path: 'etc/' },
    { path: 'tmp/', mode: 0o1777 },
    { path: 'bin/busybox', mode: 0o755, content: readFileSync('/bin/busybox') },
    ...tools.map((name) => ({ path: `bin/${name}`, link: '/bin/busybox' })),
    { path: 'etc/word', content: new TextEncoder().encode('inside') },
    {
      path: 'etc/passwd',
      content: new TextEncoder().encode('root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n'),
    },
  ]
  return buildImage({ architecture, files, command: ['/bin/sh'], ...more }, sha256)
}

/** Runs until it gets SIGTERM, and then exits at once. */
export const server = ['/bin/sh', '-c', 'trap "exit 0" TERM; while true; do sleep 0.1; done']
