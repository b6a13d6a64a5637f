import { deepEqual, equal, throws } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { buildImage, imageArchive } from './oci-image.ts'
import { tar } from './tar.ts'

const text = (value: string) => new TextEncoder().encode(value)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const listed = (archive: Uint8Array) =>
  execFileSync('tar', ['--list', '--verbose', '--numeric-owner', '--full-time', '--utc', '-f', '-'], { input: archive })
    .toString()
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/).filter((_, column) => ![1, 3, 4].includes(column)))

test('tar can read an archive', () => {
  const archive = tar([
    { path: 'bin/' },
    { path: 'bin/sh', mode: 0o755, content: text('program') },
    { path: 'bin/ls', link: '/bin/sh' },
  ])
  deepEqual(listed(archive), [
    ['drwxr-xr-x', '0', 'bin/'],
    ['-rwxr-xr-x', '7', 'bin/sh'],
    ['lrw-r--r--', '0', 'bin/ls', '->', '/bin/sh'],
  ])
  equal(execFileSync('tar', ['-xOf', '-', 'bin/sh'], { input: archive }).toString(), 'program')
})

test('a path that is too long is rejected', () => {
  throws(() => tar([{ path: 'x'.repeat(101), content: text('') }]), /too long for a tar archive/)
})

test('an image refers to its blobs by digest, and the same files give the same image', () => {
  const description = {
    architecture: 'amd64',
    files: [{ path: 'a', content: text('1') }],
    entrypoint: ['/a'],
    command: ['b'],
    user: '1',
    workingDirectory: '/w',
  }
  const image = buildImage(description, sha256)
  const manifest = JSON.parse(new TextDecoder().decode(image.manifest.bytes))
  deepEqual(
    [manifest.config, ...manifest.layers].map(({ digest }) => digest),
    image.blobs.map(({ digest }) => digest),
  )
  for (const { digest, bytes } of image.blobs) equal(digest, `sha256:${sha256(bytes)}`)
  equal(buildImage(description, sha256).manifest.digest, image.manifest.digest)
  const names = listed(imageArchive(image, 'x:1')).map((columns) => columns.at(-1))
  deepEqual(names.slice(0, 4), [
    'oci-layout',
    'index.json',
    'manifest.json',
    `blobs/${image.manifest.digest.replace(':', '/')}`,
  ])
})

test('an image has its layers in order, ports and volumes, and a description for older versions of Docker', () => {
  const image = buildImage(
    {
      architecture: 'amd64',
      lowerLayers: [[{ path: 'a', content: text('1') }], [{ path: 'b', content: text('2') }]],
      files: [{ path: 'c', content: text('3') }],
      ports: [6443],
      volumes: ['/data'],
    },
    sha256,
  )
  const [config, ...layers] = image.blobs
  const { config: settings, rootfs } = JSON.parse(new TextDecoder().decode(config?.bytes))
  deepEqual(
    layers.map(({ bytes }) => listed(bytes).map((columns) => columns.at(-1))),
    [['a'], ['b'], ['c']],
  )
  deepEqual(
    rootfs.diff_ids,
    layers.map(({ digest }) => digest),
  )
  deepEqual([settings.ExposedPorts, settings.Volumes], [{ '6443/tcp': {} }, { '/data': {} }])
  const input = imageArchive(image, 'docker.io/library/x:1')
  const [described] = JSON.parse(execFileSync('tar', ['-xOf', '-', 'manifest.json'], { input }).toString())
  const paths = listed(input).map((columns) => columns.at(-1))
  deepEqual(described.RepoTags, ['docker.io/library/x:1'])
  for (const path of [described.Config, ...described.Layers]) equal(paths.includes(path), true, path)
  deepEqual(
    described.Layers,
    layers.map(({ digest }) => `blobs/sha256/${digest.slice('sha256:'.length)}`),
  )
})
