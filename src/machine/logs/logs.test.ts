// Log files: the contract on the host's files and the simulated runtime, and tests of each driver.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { plainContainer, plainSandbox } from '../runtime/runtime-config.ts'
import { SimulatedRuntime } from '../runtime/simulated-runtime.ts'
import { logFilesContract } from './log-files-contract.suite.ts'
import { MemoryLog } from './memory-log.ts'
import { NodeLogFiles } from './node-log-files.ts'
import { NodeSystemLogs } from './node-system-logs.ts'

const directories: string[] = []
after(async () => {
  for (const directory of directories) await rm(directory, { recursive: true })
})
async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-logs-'))
  directories.push(directory)
  return directory
}

const { signal } = new AbortController()

logFilesContract('host', async () => {
  const directory = await newDirectory()
  const path = join(directory, '0.log')
  return { files: new NodeLogFiles(directory), path, append: (text) => appendFile(path, `${text}\n`) }
})

async function simulated() {
  const print = Promise.withResolvers<(line: string) => void>()
  const runtime = new SimulatedRuntime(new VirtualClock(), seededRandom(1), {
    images: {
      prints: ({ log, terminated }) =>
        new Promise((resolve) => {
          print.resolve(log)
          terminated.addEventListener('abort', () => resolve(0))
        }),
    },
  })
  const sandbox = plainSandbox('uid', 'default', 'p')
  const sandboxId = await runtime.runSandbox(sandbox, signal)
  const id = await runtime.createContainer(sandboxId, plainContainer('c', 'prints'), sandbox, signal)
  await runtime.startContainer(id, signal)
  const path = (await runtime.inspect('uid', signal))?.containers[0]?.logPath ?? ''
  const log = await print.promise
  return { runtime, id, files: runtime.logs, path, append: (text: string) => Promise.resolve(log(text)) }
}

logFilesContract('simulated', simulated)

logFilesContract('memory', () => {
  const log = new MemoryLog()
  const open = (path: string) => Promise.resolve(path === 'log' ? log.open() : undefined)
  return Promise.resolve({ files: { open }, path: 'log', append: (text) => Promise.resolve(log.append(text, 0)) })
})

test('simulated: the last part of a long log is kept, and the exit of its container notifies readers', async () => {
  const { runtime, id, files, path, append } = await simulated()
  await using file = await files.open(path)
  if (file === undefined) throw new Error('the log is not there')
  for (let line = 0; line < 3_000; line++) await append(`line ${line}`)
  const { start, end } = await file.range()
  equal(start > 0 && end - start <= 64 * 1024, true)
  const text = new TextDecoder().decode(await file.read(0, 1_000))
  equal(/^2030-01-01T00:00:00\.000Z stdout F line \d+\n$/.test(text), true, text)
  await file.waitForChange(signal)
  const woken = file.waitForChange(signal)
  await runtime.stopContainer(id, 0, signal)
  await woken
})

test('host: a renamed file is replaced once another file has its name', async () => {
  const directory = await newDirectory()
  const path = join(directory, '0.log')
  const files = new NodeLogFiles(directory)
  await writeFile(path, 'old')
  await using file = await files.open(path)
  await files.move(path, `${path}.1`)
  equal(await file?.isReplaced(), false)
  await writeFile(path, 'new')
  equal(await file?.isReplaced(), true)
})

test('host: files are listed, measured, compressed and removed', async () => {
  const directory = await newDirectory()
  const files = new NodeLogFiles(directory)
  for (const name of ['0.log.2', '0.log', '0.log.1', 'other']) await writeFile(join(directory, name), name)
  const names = async () =>
    (await files.list(join(directory, '0.log.'))).map((path) => path.slice(directory.length + 1))
  deepEqual(await names(), ['0.log.1', '0.log.2'])
  await files.compress(join(directory, '0.log.1'))
  deepEqual(await names(), ['0.log.1.gz', '0.log.2'])
  equal(gunzipSync(await readFile(join(directory, '0.log.1.gz'))).toString(), '0.log.1')
  await files.remove(join(directory, '0.log.2'))
  equal(await files.sizeOf(join(directory, '0.log.2')), 0)
  equal(await files.sizeOf(join(directory, '0.log')), 5)
  await rejects(files.compress(join(directory, 'missing')))
  deepEqual(await files.list(join(directory, 'nowhere', 'x')), [])
})

test('host: a link in place of a log or its directory is not read, measured or compressed', async () => {
  const directory = await newDirectory()
  const outside = await newDirectory()
  const files = new NodeLogFiles(directory)
  const secret = join(outside, '0.log')
  await writeFile(secret, 'x'.repeat(1_000))
  await mkdir(join(directory, 'pod'))
  const path = join(directory, 'pod', '0.log')
  await symlink(secret, path)
  await symlink(outside, join(directory, 'pod', 'c'))
  await symlink(secret, join(directory, 'pod', '1.log.part'))
  await writeFile(join(directory, 'pod', '1.log'), 'own')
  equal(await files.open(path), undefined)
  equal(await files.open(join(directory, 'pod', 'c', '0.log')), undefined)
  equal((await files.sizeOf(path)) < 1_000, true)
  await files.compress(path)
  await files.compress(join(directory, 'pod', '1.log'))
  deepEqual((await readdir(join(directory, 'pod'))).toSorted(), ['1.log.gz', 'c'])
  equal((await readFile(secret)).length, 1_000)
})

test('host: a FIFO in place of a log does not block', async () => {
  const directory = await newDirectory()
  execFileSync('mkfifo', [join(directory, '0.log')])
  equal(await new NodeLogFiles(directory).open(join(directory, '0.log')), undefined)
})

test('system logs: directories, files, and nothing outside', async () => {
  const directory = await newDirectory()
  const outside = await newDirectory()
  const inside = join(directory, 'log')
  await mkdir(join(inside, 'deep'), { recursive: true })
  await writeFile(join(inside, 'deep', 'syslog'), 'a line\n')
  await writeFile(join(outside, 'secret'), 'secret')
  await symlink('deep/syslog', join(inside, 'alias'))
  await symlink(join(outside, 'secret'), join(inside, 'out'))
  await symlink(outside, join(inside, 'away'))
  execFileSync('mkfifo', [join(inside, 'pipe')])
  const logs = new NodeSystemLogs(inside)
  deepEqual(await logs.find('/'), { kind: 'directory', names: ['alias', 'away', 'deep/', 'out', 'pipe'] })
  for (const path of ['/deep/syslog', '/alias']) {
    const found = await logs.find(path)
    if (found?.kind !== 'file') throw new Error(`${path} is no file`)
    let text = ''
    for await (const piece of found.content()) text += new TextDecoder().decode(piece)
    equal(text, 'a line\n')
  }
  for (const path of ['/none', '/deep/syslog/x', '/out', '/away', '/away/secret', '/../log/../../etc/passwd', '/pipe'])
    equal(await logs.find(path), undefined, path)
})
