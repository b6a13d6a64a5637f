import { equal, rejects } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { nodeChoicesOf } from './node-options.ts'

let folder = ''
before(async () => (folder = await mkdtemp(join(tmpdir(), 'coxswain-node-options-'))))
after(() => rm(folder, { recursive: true }))

const none = { flag: 'config', path: undefined }
let printed = ''
const terminal = { out: (text: string) => void (printed += text), err: () => undefined, isTerminal: false }

test('a simulated node says that it starts no container', async () => {
  const { runtime, onReady } = await nodeChoicesOf({ runtime: 'simulated' }, none, terminal)
  equal(runtime, 'simulated')
  onReady?.({ name: 'a', url: 'https://192.0.2.1:10250' })
  equal(printed.split('\n')[0], 'ready: node a at https://192.0.2.1:10250')
  equal(printed.includes('no container is started'), true)
})

test('a runtime that is not known is named', () =>
  rejects(nodeChoicesOf({ runtime: 'docker' }, none, terminal), {
    name: 'UsageError',
    message: '--runtime "docker" is none of auto, containerd, simulated',
  }))

test('a runtime of others is used without containerd on this machine', async () => {
  const options = { 'container-runtime-endpoint': 'unix:///run/other.sock' }
  equal((await nodeChoicesOf(options, none, terminal)).runtime, 'containerd')
})

test('flags are read from a configuration of a kubelet, and its errors name the file', async () => {
  const path = join(folder, 'config.yaml')
  await writeFile(path, 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 7\n')
  const { settings } = await nodeChoicesOf({ runtime: 'simulated' }, { flag: 'config', path }, terminal)
  equal(JSON.stringify(settings).includes('7'), true)
  await rejects(
    nodeChoicesOf({}, { flag: 'kubelet-config', path: join(folder, 'none') }, terminal),
    /^UsageError: --kubelet-config \S+none: ENOENT/,
  )
})
