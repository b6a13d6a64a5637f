// Runs specs of Kubernetes' e2e suite against this checkout; `npm run conformance`, described in docs/conformance.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { realClock } from '../../src/base/time/clock.ts'
import { newest } from '../kubelet/joining.harness.ts'
import { ArchiveRegistry } from './archive-registry.ts'
import { run } from './command.ts'
import { findExecutables } from './executables.ts'
import { buildImages } from './images/build-images.ts'
import { logErrors } from './log-errors.ts'
import { parseOptions, usage, UsageError, type Options } from './options.ts'
import { isOtherSpec } from './other-specs.ts'
import { failureLines, sigTable, type Recorded } from './results-page.ts'
import { Results } from './results.ts'
import { isSerial, isSlow } from './spec-report.ts'
import { listSpecs, runBatch } from './suite.ts'
import { firstAddress, TwoNodes } from './two-nodes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const cache = join(root, '.cache/conformance')
const marker = 'COXSWAIN_IN_NAMESPACES'
/** A batch in which no spec began means that the suite itself cannot run. */
const emptyBatchesMax = 2

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/**
 * The first process of the namespaces: it adopts and reaps what containerd leaves behind. Mounts are shared with
 * containers that ask for it, as on a machine with systemd.
 */
const firstProcess = `
mount --make-rshared / || exit 1
"$@" & child=$!
trap 'kill -TERM $child' TERM
while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
exit $code`

/**
 * Runs this file again in namespaces: only the images of the archive can be pulled there, and specs that enter the
 * namespaces of the machine's first process find one that lets them.
 */
async function inNamespaces(args: readonly string[]): Promise<number> {
  if (process.getuid?.() !== 0) throw new Error('real containers need root')
  const self = [process.execPath, fileURLToPath(import.meta.url), ...args]
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  const child = spawn('unshare', [...namespaces, 'sh', '-c', firstProcess, 'sh', ...self], {
    stdio: 'inherit',
    env: { ...process.env, [marker]: '1' },
  })
  // unshare does not forward signals.
  const end = () => {
    for (const pid of readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' '))
      if (pid !== '') process.kill(Number(pid), 'SIGTERM')
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, end)
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

/** Prepared before the namespace is entered, because packages are fetched from Debian's archive. */
function prepare({ suite, images }: Options): void {
  const executables = findExecutables(resolve(root, suite), join(cache, 'bin'))
  const archive = images ?? join(cache, 'images.tar')
  if (images === undefined ? isCurrent(archive) : existsSync(archive)) return
  print('building the images of the suite')
  for (const name of buildImages(executables, cache, archive)) print(`not built, as its executable is missing: ${name}`)
}

/** Whether the archive is newer than the code that builds it. */
function isCurrent(archive: string): boolean {
  const builtMs = statSync(archive, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return globSync(join(root, 'test/conformance/images/*.ts')).every((file) => statSync(file).mtimeMs <= builtMs)
}

/** Returns what is known about the chosen specs. */
async function runSpecs(options: Options, signal: AbortSignal): Promise<Recorded['specs']> {
  run('ip', ['link', 'set', 'lo', 'up'])
  // Some specs run kubectl.
  process.env['PATH'] = `${dirname(newest().path)}:${process.env['PATH']}`
  const executables = findExecutables(resolve(root, options.suite), join(cache, 'bin'))
  const folder = resolve(root, options.results ?? join(cache, 'results'))
  mkdirSync(folder, { recursive: true })
  const results = new Results(folder)
  const incident = (what: string) => {
    print(what)
    results.incident(what)
  }
  const images = options.images ?? join(cache, 'images.tar')
  await using registry = new ArchiveRegistry(images)
  await registry.listen(firstAddress)
  const start = () =>
    TwoNodes.start({ images, registry, results: folder, store: options.store, up: options.up, incident })
  await using cluster = new RestartedCluster(start, incident)
  const names = chosenSpecs(executables, options, folder)
  const isOpen = (name: string) => {
    const state = results.outcome(name)?.state ?? 'interrupted'
    return state === 'interrupted' || options.again.has(state)
  }
  for (const serial of [false, true]) {
    const those = names.filter((name) => isSerial(name) === serial && isOpen(name))
    let open = [...those.filter((name) => !isSlow(name)), ...those.filter(isSlow)]
    print(`${open.length} of ${names.length} specs to run${serial ? ', one at a time' : ''}`)
    for (let empty = 0; open.length > 0 && empty < emptyBatchesMax && !signal.aborted;) {
      const { kubeconfig, ended } = await cluster.responding()
      const beganMs = realClock.monotonicMs()
      const parallel = serial ? 1 : options.parallel
      const batch = { names: open.slice(0, options.batch), parallel, minutesMax: options.batchMinutes }
      const outcomes = await runBatch(
        { ...batch, executables, kubeconfig, results: folder },
        AbortSignal.any([signal, ended]),
      )
      empty = outcomes.size === 0 ? empty + 1 : 0
      const seconds = (realClock.monotonicMs() - beganMs) / 1_000
      results.add(outcomes, seconds)
      results.save()
      open = open.filter((name) => !outcomes.has(name))
      const passed = [...outcomes.values()].filter(({ state }) => state === 'passed').length
      print(`${passed} of ${outcomes.size} specs passed in ${Math.round(seconds)} s; ${open.length} are left`)
    }
    if (open.length > 0)
      throw new Error(`${open.length} specs did not run; the last output.log of ${folder} has the reason`)
  }
  for (const file of globSync(join(folder, '{first,second}-*.log')))
    for (const { count, example } of logErrors(readFileSync(file, 'utf8'))) print(`${file}: ${count} × ${example}`)
  const chosen = new Set(names)
  return Object.fromEntries(Object.entries(results.recorded().specs).filter(([name]) => chosen.has(name)))
}

/** The cluster under test, which is created when it is needed and again if it does not respond. */
class RestartedCluster implements AsyncDisposable {
  readonly #start: () => Promise<TwoNodes>
  readonly #incident: (what: string) => void
  #cluster: TwoNodes | undefined

  constructor(start: () => Promise<TwoNodes>, incident: (what: string) => void) {
    this.#start = start
    this.#incident = incident
  }

  async responding(): Promise<TwoNodes> {
    if (this.#cluster !== undefined && !(await this.#cluster.isResponding())) {
      this.#incident('the API server does not respond; the cluster is created again')
      await this[Symbol.asyncDispose]()
    }
    return (this.#cluster ??= await this.#start())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster?.[Symbol.asyncDispose]()
    this.#cluster = undefined
  }
}

/** The specs of the suite that are to run. */
function chosenSpecs(executables: string, options: Options, folder: string): readonly string[] {
  const listed = listSpecs(executables, options, folder)
  if (options.others) return listed.filter(isOtherSpec)
  if (options.specs === undefined) return listed
  const lines = readFileSync(resolve(root, options.specs), 'utf8').split('\n')
  const names = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const unknown = names.find((name) => !listed.includes(name))
  if (unknown !== undefined) throw new Error(`the suite has no spec ${unknown}`)
  return names
}

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args)
  if (process.env[marker] !== '1') {
    prepare(options)
    return inNamespaces(args)
  }
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort())
  const deadline = realClock.after(options.minutes * 60_000, () => controller.abort())
  // Until it is cancelled, the process does not end.
  const specs = await runSpecs(options, controller.signal).finally(() => deadline.cancel())
  for (const line of [...failureLines(specs), ...sigTable(specs)]) print(line)
  return Object.values(specs).every(({ state }) => state === 'passed') ? 0 : 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const isUsage = error instanceof UsageError
  process.stderr.write(`conformance: ${(error as Error).message}\n${isUsage ? `\n${usage}` : ''}`)
  process.exitCode = isUsage ? 2 : 1
}
