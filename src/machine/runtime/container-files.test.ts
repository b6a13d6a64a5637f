import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { SimulatedDisk } from '../disk/simulated-disk.ts'
import { resolvePath } from './container-files.ts'
import { plainContainer, plainSandbox, type ContainerConfig, type ContainerMount } from './runtime-config.ts'
import { SimulatedRuntime, type SimulatedProcess } from './simulated-runtime.ts'

const { signal } = new AbortController()
const bytes = (text: string) => new TextEncoder().encode(text)
const mount = (hostPath: string, containerPath: string, readOnly = false): ContainerMount => ({
  hostPath,
  containerPath,
  readOnly,
  propagation: 'private',
})

/** A node whose containers give their process to the test. */
function newNode() {
  const disk = new SimulatedDisk()
  const made: SimulatedProcess[] = []
  const program = (process: SimulatedProcess) => {
    made.push(process)
    return new Promise<number>(() => {})
  }
  const runtime = new SimulatedRuntime(new VirtualClock(), seededRandom(1), { images: { program }, disk })
  const run = async (config: Partial<ContainerConfig>) => {
    const sandbox = plainSandbox('u', 'default', 'p')
    const sandboxId = await runtime.runSandbox(sandbox, signal)
    const container = { ...plainContainer('c', 'program'), ...config }
    const id = await runtime.createContainer(sandboxId, container, sandbox, signal)
    await runtime.startContainer(id, signal)
    const { files } = made.pop() as SimulatedProcess
    return { id, files }
  }
  return { disk, runtime, run }
}

test('a container has its own files, which end with it', async () => {
  const { run } = newNode()
  const { files } = await run({ workingDirectory: '/work' })
  await files.write('note', 'one')
  await files.append('/work/note', bytes(' two'))
  await files.append('other', 'x')
  equal(await files.read('/work/note'), 'one two')
  deepEqual(await files.list('/work'), ['note', 'other'])
  await files.makeDirectory('/work/deep/er')
  await files.makeDirectory('/work/deep')
  deepEqual(
    [await files.kindOf('deep'), await files.kindOf('note'), await files.kindOf('no')],
    ['directory', 'file', undefined],
  )
  await files.remove('note')
  await rejects(files.read('note'), { code: 'ENOENT', message: "ENOENT: no such file or directory, open '/work/note'" })
  deepEqual(await (await run({})).files.list('/'), ['tmp'])
})

test('a device of a container is a file with the content of its volume', async () => {
  const { disk, run } = newNode()
  await disk.makeDirectory('/pods/u', 0o755)
  await disk.write('/pods/u/device', { content: bytes('old'), mode: 0o644 })
  const devices = [{ hostPath: '/pods/u/device', containerPath: '/dev/xvda', readOnly: false }]
  const { files } = await run({ devices })
  equal(await files.read('/dev/xvda'), 'old')
  await files.write('/dev/xvda', 'new')
  equal(await (await run({ devices })).files.read('/dev/xvda'), 'new')
})

test('containers share the volumes that they mount, one inside of another', async () => {
  const { disk, run } = newNode()
  await disk.makeDirectory('/pods/u/shared', 0o777)
  await disk.makeDirectory('/pods/u/config', 0o755)
  await disk.write('/pods/u/config/key', { content: bytes('value'), mode: 0o644 })
  const mounts = [mount('/pods/u/config', '/data/config', true), mount('/pods/u/shared', '/data')]
  const { files: one } = await run({ mounts })
  const { files: other } = await run({ mounts: mounts.slice(1) })
  await one.write('/data/file', 'written')
  equal(await other.read('/data/file'), 'written')
  equal(await one.read('/data/config/key'), 'value')
  await rejects(one.write('/data/config/key', ''), { code: 'EROFS' })
  await rejects(one.remove('/data/config'), { code: 'EBUSY' })
})

test('a read-only container writes into its volumes only, and what it has read stays as it was', async () => {
  const { disk, run } = newNode()
  const security = { ...plainContainer('c', '').security, readOnlyRoot: true }
  const { files } = await run({ security, mounts: [mount('/var/data', '/data')] })
  await rejects(files.write('/tmp/x', ''), { code: 'EROFS' })
  await files.write('/data/x', 'a')
  const read = await files.readBytes('/data/x')
  read[0] = 0
  equal(await files.read('/data/x'), 'a')
  equal(new TextDecoder().decode(await disk.readTail('/var/data/x', 10)), 'a', 'the path was created on the node')
})

test('a file that is loaded when it is read is loaded every time', async () => {
  const { disk, run } = newNode()
  await disk.makeDirectory('/token', 0o755)
  let loads = 0
  const content = () => Promise.resolve(bytes(`token ${++loads}`))
  await disk.project('/token', new Map([['token', { content, mode: 0o600 }]]), undefined, signal)
  const { files } = await run({ mounts: [mount('/token', '/run/token', true)] })
  equal(loads, 0)
  deepEqual([await files.read('/run/token/token'), await files.read('/run/token/token')], ['token 1', 'token 2'])
})

test('a mount without a disk cannot be used', async () => {
  const files: SimulatedProcess['files'][] = []
  const images = { program: (process: SimulatedProcess) => Promise.resolve(files.push(process.files)) }
  const runtime = new SimulatedRuntime(new VirtualClock(), seededRandom(1), { images })
  const sandbox = plainSandbox('u', 'default', 'p')
  const sandboxId = await runtime.runSandbox(sandbox, signal)
  const config = { ...plainContainer('c', 'program'), mounts: [mount('/x', '/data')] }
  await runtime.startContainer(await runtime.createContainer(sandboxId, config, sandbox, signal), signal)
  await rejects(files[0]?.list('/') ?? Promise.resolve(), { code: 'ENOENT' })
})

test('users execute commands about files; unknown ones are not run', async () => {
  const { runtime, run } = newNode()
  const { id, files } = await run({ environment: [{ name: 'NAME', value: 'x' }] })
  await files.write('/tmp/x', 'hello\n')
  const exec = async (...command: string[]) => {
    const printed: string[] = []
    const print = (piece: Uint8Array) => Promise.resolve(void printed.push(new TextDecoder().decode(piece)))
    const io = { stdin: (async function* () {})(), stdout: print, stderr: print }
    return [await runtime.streams.exec(id, command, io, signal), printed.join('')]
  }
  deepEqual(await exec('cat', '/tmp/x'), [0, 'hello\n'])
  deepEqual(await exec('sh', '-c', 'echo -n more >> /tmp/$NAME; exit 3'), [3, ''])
  equal(await files.read('/tmp/x'), 'hello\nmore')
  deepEqual(await exec('cat', '/tmp/y'), [1, "cat: can't open '/tmp/y': No such file or directory\n"])
  for (const command of [['nginx'], ['ls', '-l'], ['sh', '-c', 'true; nginx']])
    equal((await exec(...command))[0], 126, command.join(' '))
})

test('paths are resolved from the working directory', () => {
  const cases: [directory: string, path: string, resolved: string][] = [
    ['', 'a', '/a'],
    ['/work', 'a/./b', '/work/a/b'],
    ['/work', '../../etc//x/', '/etc/x'],
    ['/work', '/', '/'],
  ]
  for (const [directory, path, resolved] of cases) equal(resolvePath(directory, path), resolved)
})
