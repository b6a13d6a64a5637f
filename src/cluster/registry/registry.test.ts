// The registry over HTTP, with requests as clients of registries send them.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { request as sendRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openRegistry, type Registry } from './open-registry.ts'

const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const indexType = 'application/vnd.oci.image.index.v1+json'
const digestOf = (content: string | Buffer): string => `sha256:${hash('sha256', content)}`

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}
type Send = (
  method: string,
  path: string,
  sent?: { body?: string | Buffer; headers?: Record<string, string | number> },
) => Promise<Answer>

interface Opened {
  readonly folder: string
  readonly send: Send
  /** Stops it, and starts another one with the same files. */
  restart(): Promise<void>
}

async function opened(t: TestContext, bytesMax = 1 << 30): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-registry-'))
  let registry: Registry = await openRegistry({ folder, port: 0, bytesMax })
  t.after(async () => {
    await registry[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })
  const send: Send = (method, path, { body = '', headers = {} } = {}) =>
    new Promise((resolve, reject) => {
      const port = Number(registry.host.split(':')[1])
      const request = sendRequest(
        {
          host: '127.0.0.1',
          port,
          method,
          path,
          agent: false,
          headers: { host: registry.host, 'content-length': Buffer.byteLength(body), ...headers },
        },
        (response) => {
          let text = ''
          response.setEncoding('latin1').on('data', (piece: string) => (text += piece))
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
          response.on('error', reject)
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  return {
    folder,
    send,
    async restart() {
      await registry[Symbol.asyncDispose]()
      registry = await openRegistry({ folder, port: 0, bytesMax })
    },
  }
}

const codeOf = ({ text }: Answer): string | undefined =>
  (JSON.parse(text) as { readonly errors?: readonly { readonly code: string }[] }).errors?.[0]?.code

/** In one request, after it was begun. */
async function pushBlob(send: Send, repository: string, content: string | Buffer): Promise<Answer> {
  const begun = await send('POST', `/v2/${repository}/blobs/uploads/`)
  equal(begun.status, 202)
  return send('PUT', `${String(begun.headers['location'])}?digest=${digestOf(content)}`, { body: content })
}

const manifestOf = (config: string, ...layers: string[]): string =>
  JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { digest: digestOf(config), size: config.length },
    layers: layers.map((layer) => ({ digest: digestOf(layer), size: layer.length })),
  })

const putManifest = (send: Send, name: string, reference: string, body: string, type = manifestType) =>
  send('PUT', `/v2/${name}/manifests/${reference}`, { body, headers: { 'content-type': type } })

async function pushImage(send: Send, name: string, tag: string, layer: string): Promise<string> {
  for (const blob of ['{}', layer]) equal((await pushBlob(send, name, blob)).status, 201)
  const manifest = manifestOf('{}', layer)
  const put = await putManifest(send, name, tag, manifest)
  equal(put.status, 201, put.text)
  equal(put.headers['docker-content-digest'], digestOf(manifest))
  return manifest
}

test('an image is pushed and pulled by tag and by digest, also after a restart', async (t) => {
  const { send, restart, folder } = await opened(t)
  equal((await send('GET', '/v2/')).status, 200)
  const manifest = await pushImage(send, 'team/app', '1.0', 'layer')
  for (const wait of [undefined, restart]) {
    await wait?.()
    for (const reference of ['1.0', digestOf(manifest), encodeURIComponent(digestOf(manifest))]) {
      const got = await send('GET', `/v2/team/app/manifests/${reference}`)
      deepEqual([got.status, got.text, got.headers['content-type']], [200, manifest, manifestType])
      equal(got.headers['docker-content-digest'], digestOf(manifest))
      const head = await send('HEAD', `/v2/team/app/manifests/${reference}`)
      deepEqual([head.status, head.text, head.headers['content-length']], [200, '', String(manifest.length)])
    }
    equal((await send('GET', `/v2/team/app/blobs/${digestOf('layer')}`)).text, 'layer')
    const head = await send('HEAD', `/v2/team/app/blobs/${digestOf('layer')}`)
    deepEqual([head.status, head.text, head.headers['content-length']], [200, '', '5'])
  }
  equal((await stat(join(folder, 'blobs', hash('sha256', 'layer')))).mode & 0o777, 0o600)
  equal((await stat(folder)).mode & 0o77, 0)
})

test('a blob is pushed in chunks, whose order is checked', async (t) => {
  const { send, folder } = await opened(t)
  const begun = await send('POST', '/v2/app/blobs/uploads/')
  const location = String(begun.headers['location'])
  const chunk = (body: string, range?: string) =>
    send('PATCH', location, { body, headers: range === undefined ? {} : { 'content-range': range } })
  deepEqual([(await chunk('abc', '0-2')).headers['range']], ['0-2'])
  const wrong = await chunk('xyz', '9-11')
  deepEqual([wrong.status, wrong.headers['range'], codeOf(wrong)], [416, '0-2', 'BLOB_UPLOAD_INVALID'])
  equal((await chunk('def')).status, 202)
  const state = await send('GET', location)
  deepEqual([state.status, state.headers['range']], [204, '0-5'])
  equal((await send('PUT', `${location}?digest=${digestOf('abcdefghi')}`, { body: 'ghi' })).status, 201)
  equal((await send('GET', `/v2/app/blobs/${digestOf('abcdefghi')}`)).text, 'abcdefghi')
  equal(codeOf(await send('GET', location)), 'BLOB_UPLOAD_UNKNOWN')
  deepEqual(await readdir(join(folder, 'uploads')), [])
})

test('a blob is pushed in a single request, mounted from another repository, and cancelled', async (t) => {
  const { send } = await opened(t)
  const digest = digestOf('single')
  equal((await send('POST', `/v2/app/blobs/uploads/?digest=${digest}`, { body: 'single' })).status, 201)
  const mounted = await send('POST', `/v2/other/blobs/uploads/?mount=${digest}&from=app`)
  deepEqual([mounted.status, mounted.headers['location']], [201, `/v2/other/blobs/${digest}`])
  const begun = await send('POST', `/v2/other/blobs/uploads/?mount=${digestOf('none')}&from=app`)
  equal(begun.status, 202)
  equal((await send('DELETE', String(begun.headers['location']))).status, 204)
  equal((await send('GET', String(begun.headers['location']))).status, 404)
})

test('a large blob arrives unchanged, and parts of it can be read', async (t) => {
  const { send } = await opened(t)
  const content = Buffer.alloc(9 << 20, 'large blob ')
  equal((await pushBlob(send, 'app', content)).status, 201)
  const got = await send('GET', `/v2/app/blobs/${digestOf(content)}`)
  equal(digestOf(Buffer.from(got.text, 'latin1')), digestOf(content))
  const part = (range: string) => send('GET', `/v2/app/blobs/${digestOf(content)}`, { headers: { range } })
  const middle = await part('bytes=6-9')
  deepEqual([middle.status, middle.text, middle.headers['content-range']], [206, 'blob', `bytes 6-9/${content.length}`])
  equal((await part(`bytes=${content.length - 3}-`)).text.length, 3)
  equal((await part(`bytes=${content.length}-`)).status, 416)
  equal((await part('bytes=-5')).status, 200)
})

test('content of another digest is rejected, and nothing of it stays', async (t) => {
  const { send, folder } = await opened(t)
  const begun = await send('POST', '/v2/app/blobs/uploads/')
  const put = await send('PUT', `${String(begun.headers['location'])}?digest=${digestOf('right')}`, { body: 'wrong' })
  deepEqual([put.status, codeOf(put)], [400, 'DIGEST_INVALID'])
  const manifest = await putManifest(send, 'app', digestOf('right'), manifestOf('{}'))
  deepEqual([manifest.status, codeOf(manifest)], [400, 'DIGEST_INVALID'])
  deepEqual([await readdir(join(folder, 'blobs')), await readdir(join(folder, 'uploads'))], [[], []])
})

const invalidManifests: [what: string, body: string, type: string | undefined, code: string][] = [
  ['blobs that were not pushed', manifestOf('{}', 'layer'), undefined, 'MANIFEST_BLOB_UNKNOWN'],
  [
    'manifests that were not pushed',
    JSON.stringify({ manifests: [{ digest: digestOf('a') }] }),
    indexType,
    'MANIFEST_BLOB_UNKNOWN',
  ],
  ['no JSON', '{', undefined, 'MANIFEST_INVALID'],
  ['no object', '1', undefined, 'MANIFEST_INVALID'],
  ['no layers', JSON.stringify({ config: { digest: digestOf('a') } }), undefined, 'MANIFEST_INVALID'],
  ['no config', JSON.stringify({ layers: [] }), undefined, 'MANIFEST_INVALID'],
  [
    'a digest that is a path',
    JSON.stringify({ config: { digest: 'sha256:../a' }, layers: [] }),
    undefined,
    'DIGEST_INVALID',
  ],
  ['another type than its own', manifestOf('{}'), indexType, 'MANIFEST_INVALID'],
  ['a type that is not of an image', manifestOf('{}'), 'text/html', 'MANIFEST_INVALID'],
]
for (const [what, body, type, code] of invalidManifests)
  test(`a manifest is rejected: ${what}`, async (t) => {
    const { send } = await opened(t)
    const put = await putManifest(send, 'app', '1', body, type)
    equal(codeOf(put), code)
    equal((await send('GET', '/v2/app/manifests/1')).status, 404)
  })

const mistakes: [method: string, path: string, status: number, code: string][] = [
  ['GET', '/v2/app/manifests/none', 404, 'MANIFEST_UNKNOWN'],
  ['GET', `/v2/app/blobs/${digestOf('none')}`, 404, 'BLOB_UNKNOWN'],
  ['GET', '/v2/app/blobs/md5:a', 400, 'DIGEST_INVALID'],
  ['GET', '/v2/App/manifests/1', 400, 'NAME_INVALID'],
  ['GET', '/v2/..%2f..%2fetc/manifests/1', 400, 'NAME_INVALID'],
  ['GET', `/v2/${'a'.repeat(201)}/manifests/1`, 400, 'NAME_INVALID'],
  ['GET', '/v2/app/manifests/..%2f1', 400, 'MANIFEST_INVALID'],
  ['GET', '/v2/%zz/manifests/1', 400, 'NAME_INVALID'],
  ['GET', '/v2/app/tags/list', 404, 'NAME_UNKNOWN'],
  ['PATCH', '/v2/app/blobs/uploads/none', 404, 'BLOB_UPLOAD_UNKNOWN'],
  ['DELETE', `/v2/app/manifests/1`, 405, 'UNSUPPORTED'],
  ['PUT', '/v2/app/tags/list', 405, 'UNSUPPORTED'],
  ['GET', '/v2/app/blobs/uploads/', 405, 'UNSUPPORTED'],
  ['POST', `/v2/app/blobs/${digestOf('{}')}`, 405, 'UNSUPPORTED'],
  ['GET', '/v2/app/referrers/sha256:a', 404, 'UNSUPPORTED'],
  ['GET', '/metrics', 404, 'UNSUPPORTED'],
]
for (const [method, path, status, code] of mistakes)
  test(`${method} ${path.slice(0, 60)} is ${status} ${code}`, async (t) => {
    const { send } = await opened(t)
    const answer = await send(method, path)
    deepEqual([answer.status, codeOf(answer)], [status, code])
  })

test('pages of browsers are rejected, and names that others resolve to this address', async (t) => {
  const { send } = await opened(t)
  for (const headers of [
    { host: 'evil.example' },
    { origin: 'http://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
  ] as Record<string, string>[]) {
    const answer = await send('POST', '/v2/app/blobs/uploads/', { headers })
    deepEqual([answer.status, codeOf(answer)], [403, 'DENIED'])
  }
})

test('an index refers to manifests of its repository, and keeps them', async (t) => {
  const { send, restart } = await opened(t)
  for (const blob of ['{}', 'layer']) await pushBlob(send, 'app', blob)
  const manifest = manifestOf('{}', 'layer')
  equal((await putManifest(send, 'app', digestOf(manifest), manifest)).status, 201)
  const index = JSON.stringify({ mediaType: indexType, manifests: [{ digest: digestOf(manifest), platform: {} }] })
  equal((await putManifest(send, 'app', 'multi', index, indexType)).status, 201)
  await restart()
  equal((await send('GET', '/v2/app/manifests/multi')).text, index)
  equal((await send('GET', `/v2/app/manifests/${digestOf(manifest)}`)).text, manifest)
  equal((await send('GET', `/v2/app/blobs/${digestOf('layer')}`)).text, 'layer')
})

test('what no tag leads to is removed at the next start; shared blobs stay', async (t) => {
  const { send, restart, folder } = await opened(t)
  await pushImage(send, 'app', 'dev', 'first')
  const second = await pushImage(send, 'app', 'dev', 'second')
  await send('POST', '/v2/app/blobs/uploads/')
  const writing = await send('POST', '/v2/app/blobs/uploads/')
  await send('PATCH', String(writing.headers['location']), { body: 'unfinished' })
  equal((await readdir(join(folder, 'blobs'))).length, 5)
  await restart()
  const expected = ['{}', 'second', second].map((content) => hash('sha256', content))
  deepEqual((await readdir(join(folder, 'blobs'))).toSorted(), expected.toSorted())
  deepEqual(await readdir(join(folder, 'uploads')), [])
  equal((await send('GET', '/v2/app/manifests/dev')).text, second)
})

test('tags are listed in pages', async (t) => {
  const { send } = await opened(t)
  for (const tag of ['c', 'a', 'b']) await pushImage(send, 'app', tag, 'layer')
  const all = await send('GET', '/v2/app/tags/list')
  deepEqual(JSON.parse(all.text), { name: 'app', tags: ['a', 'b', 'c'] })
  const page = await send('GET', '/v2/app/tags/list?n=2')
  deepEqual(JSON.parse(page.text), { name: 'app', tags: ['a', 'b'] })
  const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(page.headers['link'])) ?? []
  const rest = await send('GET', next)
  deepEqual([JSON.parse(rest.text), rest.headers['link']], [{ name: 'app', tags: ['c'] }, undefined])
})

test('the size of all blobs is limited', async (t) => {
  const { send } = await opened(t, 1_000)
  equal((await pushBlob(send, 'app', 'a'.repeat(900))).status, 201)
  const full = await pushBlob(send, 'app', 'b'.repeat(200))
  deepEqual([full.status, codeOf(full)], [413, 'SIZE_INVALID'])
  match(full.text, /more than 1000 bytes; restart it to remove what has no tag/)
  equal((await pushBlob(send, 'app', 'c'.repeat(50))).status, 201)
})

test('a second registry does not use the same folder', async (t) => {
  const { folder } = await opened(t)
  await rejects(openRegistry({ folder, port: 0, bytesMax: 1 }), /is in use by process/)
})

test('a folder that cannot be made is an error', async (t) => {
  const { folder } = await opened(t)
  await writeFile(join(folder, 'file'), '')
  await rejects(openRegistry({ folder: join(folder, 'file', 'a'), port: 0, bytesMax: 1 }), /ENOTDIR/)
})

test('a tag whose file is damaged, or whose manifest is missing, is as good as none', async (t) => {
  const { send, restart, folder } = await opened(t)
  await pushImage(send, 'app', '1', 'layer')
  const tags = join(folder, 'repositories', 'app', 'tags')
  await writeFile(join(tags, 'damaged'), 'x')
  await writeFile(join(tags, 'lost'), digestOf('nothing').slice('sha256:'.length))
  await restart()
  for (const tag of ['damaged', 'lost']) equal((await send('GET', `/v2/app/manifests/${tag}`)).status, 404)
  equal((await send('GET', '/v2/app/manifests/1')).status, 200)
})
