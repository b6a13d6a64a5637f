// coxswain image with real containers: archives and images of Docker are loaded as images that pods run, also archives of a folder
// at the start, and a mirror serves images that the node lacks.
import { equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { imageArchive, type BuiltImage } from '../../src/wire/oci/oci-image.ts'
import { tar } from '../../src/wire/oci/tar.ts'
import { coxswain } from '../process.ts'
import { busybox } from './busybox.ts'
import { inNamespaces } from './namespaces.ts'
import { startRegistry } from './registry.ts'
import { startRealUp } from './up.harness.ts'

const run = promisify(execFile)

/** The Engine API of a Docker that has one image, which it saves in the format that Docker had before that of OCI. */
async function startDocker(folder: string, name: string, { blobs }: BuiltImage) {
  const paths = blobs.map(({ digest }) => `${digest.slice('sha256:'.length)}.part`)
  const [Config, ...Layers] = paths
  const archive = tar([
    ...blobs.map(({ bytes }, index) => ({ path: paths[index] ?? '', content: bytes })),
    { path: 'manifest.json', content: Buffer.from(JSON.stringify([{ Config, RepoTags: [name], Layers }])) },
  ])
  const server = createServer(({ url }, response) => {
    const isFound = url === `/images/get?${new URLSearchParams({ names: name })}`
    response.writeHead(isFound ? 200 : 404).end(isFound ? archive : '{"message":"no such image"}')
  }).listen(join(folder, 'docker.sock'))
  await once(server, 'listening')
  return {
    environment: { DOCKER_HOST: `unix://${folder}/docker.sock` },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

inNamespaces(import.meta.url, () => {
  test('archives are loaded from files, from stdin, from Docker and from a folder, listed, and run without a pull', async () => {
    await using up = await startRealUp()
    const dataDirectory = join(up.podsFolder, '..', '..')
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-image-'))
    const archive = async (name: string, says: string) => {
      const path = join(folder, `${says}.tar`)
      await writeFile(path, imageArchive(busybox({ command: ['/bin/echo', says] }), name))
      return path
    }
    const image = ['image', '--data-dir', dataDirectory]
    const files = [
      await archive('docker.io/library/one:1', 'first'),
      await archive('registry.test/two:latest', 'second'),
    ]
    const { stdout } = await run(coxswain, [...image, 'load', ...files])
    match(stdout, /^loaded docker\.io\/library\/one:1\nloaded registry\.test\/two:latest\n {2}pods pull :latest/)
    const piped = ['-c', 'cat "$1" | "$0" image --data-dir "$2" load -', coxswain]
    await run('/bin/sh', [...piped, await archive('docker.io/library/three:1', 'third'), dataDirectory])
    await using docker = await startDocker(folder, 'docked:1', busybox({ command: ['/bin/echo', 'from Docker'] }))
    const loaded = await run(coxswain, [...image, 'load', 'docked:1'], {
      env: { ...process.env, ...docker.environment },
    })
    equal(loaded.stdout, 'loaded docker.io/library/docked:1\n')
    match((await run(coxswain, [...image, 'list'])).stdout, /^docker\.io\/library\/three:1 +\d+\.\dMB$/m)
    for (const [name, says] of [
      ['one:1', 'first'],
      ['registry.test/two', 'second'],
      ['three:1', 'third'],
      ['docked:1', 'from Docker'],
    ] as const) {
      const podName = says.toLowerCase().replace(' ', '-')
      await up.k(['run', podName, `--image=${name}`, '--image-pull-policy=Never', '--restart=Never'])
      await up.k(['wait', `pod/${podName}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=200s'])
      equal(await up.k(['logs', podName]), `${says}\n`)
    }

    const images = join(dataDirectory, 'images')
    await mkdir(images, { mode: 0o700 })
    await cp(await archive('docker.io/library/four:1', 'fourth'), join(images, 'four.tar'))
    await up.crash()
    await up.k(['run', 'fourth', '--image=four:1', '--image-pull-policy=Never', '--restart=Never'])
    await up.k(['wait', 'pod/fourth', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=200s'])

    await using registry = await startRegistry()
    registry.push('library/mirrored:1', busybox({ command: ['/bin/echo', 'mirrored'] }))
    const hosts = join(dataDirectory, 'node/containerd/registries/docker.io')
    await mkdir(hosts, { recursive: true })
    const capabilities = 'capabilities = ["pull", "resolve"]'
    await writeFile(join(hosts, 'hosts.toml'), `[host."http://${registry.host}"]\n  ${capabilities}\n`)
    await up.k(['run', 'mirrored', '--image=mirrored:1', '--restart=Never'])
    await up.k(['wait', 'pod/mirrored', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=200s'])
    await up.k(['delete', 'pod', '--all', '--timeout=200s'])
    await rm(folder, { recursive: true })
  })
})
