import { deepEqual, equal } from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { imageArchive } from '../../src/wire/oci/oci-image.ts'
import { busybox } from '../containers/busybox.ts'
import { ArchiveRegistry } from './archive-registry.ts'

test('the images of an archive are served by tag and by digest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-registry-'))
  try {
    const image = busybox()
    const archive = join(folder, 'images.tar')
    writeFileSync(archive, imageArchive(image, 'registry.example/team/busybox:1'))
    await using registry = new ArchiveRegistry(archive)
    await registry.listen('127.0.0.1')
    const get = async (path: string, method = 'GET') => {
      const response = await fetch(`${registry.url}${path}`, { method })
      return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) }
    }
    const byTag = '/v2/team/busybox/manifests/1?ns=registry.example'
    deepEqual(await get(byTag), { status: 200, bytes: image.manifest.bytes })
    equal((await get(byTag, 'HEAD')).bytes.length, 0)
    for (const { digest, bytes } of image.blobs)
      deepEqual(await get(`/v2/team/busybox/blobs/${digest}?ns=registry.example`), { status: 200, bytes })
    equal((await get('/v2/team/busybox/manifests/2?ns=registry.example')).status, 404)
    equal((await get('/v2/')).status, 200)
    registry.configure(join(folder, 'registries'))
    const hosts = readFileSync(join(folder, 'registries/registry.example/hosts.toml'), 'utf8')
    equal(hosts.startsWith(`server = "${registry.url}"\n`), true)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
