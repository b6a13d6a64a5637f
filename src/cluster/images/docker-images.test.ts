import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { dockerDaemon, isImageReference, saveDockerImages } from './docker-images.ts'

const { signal } = new AbortController()

test('DOCKER_HOST names the socket of the daemon', () => {
  deepEqual(dockerDaemon({}), { socketPath: '/var/run/docker.sock' })
  deepEqual(dockerDaemon({ DOCKER_HOST: '' }), { socketPath: '/var/run/docker.sock' })
  deepEqual(dockerDaemon({ DOCKER_HOST: 'unix:///run/podman/podman.sock' }), { socketPath: '/run/podman/podman.sock' })
  for (const host of ['tcp://10.0.0.1:2375', 'unix://relative', 'ssh://a@b'])
    throws(() => dockerDaemon({ DOCKER_HOST: host }), /^Error: DOCKER_HOST \S+ is not a Unix socket.*docker save/)
})

test('names of images', () => {
  const sha = `sha256:${'a'.repeat(64)}`
  for (const name of ['nginx', 'nginx:1.27', 'localhost:5001/team/app', `app@${sha}`, 'a1b2c3'])
    equal(isImageReference(name), true, name)
  for (const name of ['', '-v', 'a b', 'a?b', 'a&names=b', './a', 'ä', 'a'.repeat(1_001)])
    equal(isImageReference(name), false, name)
})

interface Docker extends AsyncDisposable {
  readonly socketPath: string
  readonly folder: string
  readonly requested: readonly (string | undefined)[]
}

async function docker(listener: RequestListener): Promise<Docker> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-docker-'))
  const socketPath = join(folder, 'docker.sock')
  const requested: (string | undefined)[] = []
  const server = createServer((request, response) => {
    requested.push(request.url)
    listener(request, response)
  }).listen(socketPath)
  await once(server, 'listening')
  return {
    socketPath,
    folder,
    requested,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

test('all images are saved in one archive, for its owner only', async () => {
  const archive = Buffer.alloc(3 << 20, 'image')
  await using daemon = await docker((_, response) => response.end(archive))
  const file = join(daemon.folder, 'saved.tar')
  await saveDockerImages(daemon, ['app:1', 'localhost:5001/b&c'], file, signal)
  deepEqual(await readFile(file), archive)
  equal((await stat(file)).mode & 0o777, 0o600)
  deepEqual(daemon.requested, ['/images/get?names=app%3A1&names=localhost%3A5001%2Fb%26c'])
  await rejects(saveDockerImages(daemon, ['app:1'], file, signal), /has not sent all/, 'a file is not replaced')
})

const refusals: [what: string, status: number, body: string, expected: RegExp][] = [
  [
    'the message of Docker is shown',
    404,
    '{"message":"No such image: app:1"}',
    /^Error: Docker cannot save app:1: No such image: app:1; docker images lists what it has$/,
  ],
  ['an answer of another program', 502, '<html>', /^Error: Docker cannot save app:1: status 502; /],
  ['a message that is no text', 500, '{"message":{}}', /: status 500; /],
  ['a long answer is cut', 500, `{"message":"${'x'.repeat(1 << 20)}"}`, /: status 500; /],
]
for (const [what, status, body, expected] of refusals)
  test(`an error: ${what}`, async () => {
    await using daemon = await docker((_, response) => response.writeHead(status).end(body))
    const file = join(daemon.folder, 'saved.tar')
    await rejects(saveDockerImages(daemon, ['app:1'], file, signal), expected)
    equal(existsSync(file), false)
  })

test('an archive that ends early is an error', async () => {
  await using daemon = await docker((_, response) => {
    response.writeHead(200, { 'content-length': 1_000 })
    response.write('half', () => response.destroy())
  })
  const saved = saveDockerImages(daemon, ['app:1'], join(daemon.folder, 'saved.tar'), signal)
  await rejects(saved, /^Error: Docker has not sent all of app:1$/)
})

test('without a daemon, the message names the ways out', async () => {
  const saved = saveDockerImages({ socketPath: '/nowhere/docker.sock' }, ['app:1'], '/nowhere/a.tar', signal)
  await rejects(saved, /^Error: no Docker daemon runs at \/nowhere\/docker\.sock; start it, set DOCKER_HOST .*archive/)
})

test('an abort ends the wait for a daemon that does not answer', async () => {
  const controller = new AbortController()
  await using daemon = await docker(() => controller.abort(new Error('interrupted')))
  const saved = saveDockerImages(daemon, ['app:1'], join(daemon.folder, 'a.tar'), controller.signal)
  await rejects(saved, /^Error: interrupted$/)
})
