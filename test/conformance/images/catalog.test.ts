import { deepEqual, equal, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { busyboxLayer, imageCatalog, registryFiles } from './catalog.ts'

const catalog = imageCatalog({
  executable: (name) => `/suite/${name}`,
  debianText: (path) => `${path}\n`,
  certificate: { certificate: 'certificate', key: 'key' },
  registryContent: [],
})

suite('the images of the suite', () => {
  test('have distinct names with tags', () => {
    equal(new Set(catalog.map(({ name }) => name)).size, catalog.length)
    for (const { name } of catalog) ok(/^registry\.k8s\.io\/[a-z0-9/-]+:[\w.-]+$/.test(name), name)
  })

  test('name every executable that they copy', () => {
    for (const { layers, needs, name } of catalog)
      deepEqual(
        layers.flat().flatMap(({ source }) => (source === undefined ? [] : [source])),
        needs.map((need) => `/suite/${need}`),
        name,
      )
  })

  test('have the program that uses CPU where the resource consumer starts it', () => {
    const consumer = catalog.find(({ name }) => name.includes('/resource-consumer:'))
    deepEqual(
      consumer?.layers.flat().flatMap(({ path, source }) => (source === undefined ? [] : [path])),
      ['consumer', 'consume-cpu/consume-cpu'],
    )
  })

  test('add the user of the image to those of Debian', () => {
    const passwd = catalog[0]?.layers.flat().find(({ path }) => path === 'etc/passwd')?.content
    equal(passwd, 'etc/passwd\nuser-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh\n')
  })
})

test('every applet of the busybox image is a link to busybox', () => {
  const files = busyboxLayer('/busybox', ['busybox', 'ls', 'sh'])
  const placed = files
    .filter(({ path }) => /^bin\/./.test(path))
    .map(({ path, source, link }) => [path, source ?? link])
  deepEqual(placed, [
    ['bin/busybox', '/busybox'],
    ['bin/ls', 'busybox'],
    ['bin/sh', 'busybox'],
  ])
})

test('the registry of agnhost has a tag, a manifest and its blobs', () => {
  const [manifest, layer] = ['aabb', 'ccdd'].map((hex) => ({ digest: `sha256:${hex}`, content: Buffer.from(hex) }))
  ok(manifest && layer)
  deepEqual(
    registryFiles(manifest, [layer]).map(({ path, content }) => [path, content?.toString()]),
    [
      ['var/registry/pause/manifests/testing', 'sha256:aabb'],
      ['var/registry/pause/manifests/sha256/aa/aabb/data', 'aabb'],
      ['var/registry/pause/blobs/sha256/cc/ccdd/data', 'ccdd'],
    ],
  )
})
