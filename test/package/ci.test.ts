// The GitHub Action and the examples of docs/ci.md: their steps are run, with a release that a local server has.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
// @ts-expect-error -- plain JavaScript, as all scripts
import { makeArchive } from '../../scripts/executable-archive.mjs'
// @ts-expect-error -- plain JavaScript, as all scripts
import { executableFiles } from '../../scripts/executable-files.mjs'
// @ts-expect-error -- plain JavaScript, as all scripts
import { checksumLines } from '../../scripts/release.mjs'
import packageFields from '../../package.json' with { type: 'json' }
import { kubectls } from '../kubectl.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { version } = packageFields
const architecture = process.arch === 'arm64' ? 'ARM64' : 'X64'
/** A step that takes longer is hanging. */
const stepMsMax = 180_000

const archiveOf = (name: 'x64' | 'arm64'): string =>
  (executableFiles as (version: string, architecture: string) => { readonly archive: string })(version, name).archive
/** The archive that runs here. */
const own = archiveOf(process.arch === 'arm64' ? 'arm64' : 'x64')
const checksumsOf = checksumLines as (files: readonly (readonly [name: string, bytes: Buffer])[]) => string

interface Step {
  readonly id?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string }>>
  readonly runs: { readonly steps: readonly Step[] }
}
const action = parse(await readFile(join(root, 'action.yml'), 'utf8')) as Action
const page = await readFile(join(root, 'docs/ci.md'), 'utf8')
const [workflow, inImage, withExecutable] = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(
  ([, text = '']) => parse(text) as unknown,
)

let folder = ''
/** The folders of releases that the server has: the real one, and broken ones. */
let releases = ''
let origin = ''
const requested: string[] = []
const server = createServer((request, response) => {
  requested.push(request.url ?? '')
  readFile(join(releases, new URL(request.url ?? '/', 'http://server').pathname)).then(
    (bytes) => response.end(bytes),
    () => response.writeHead(404).end(),
  )
})

async function release(name: string, files: Readonly<Record<string, Buffer>>, sums: string): Promise<void> {
  await mkdir(join(releases, name))
  for (const [file, bytes] of Object.entries(files)) await writeFile(join(releases, name, file), bytes)
  await writeFile(join(releases, name, 'SHA256SUMS'), sums)
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-ci-'))
  releases = join(folder, 'releases')
  const real = join(releases, 'real')
  await (makeArchive as (folder: string) => Promise<void>)(real)
  // The other architecture has the same content, because only this one can be made and run here.
  for (const name of ['arm64', 'x64'] as const)
    if (archiveOf(name) !== own) await copyFile(join(real, own), join(real, archiveOf(name)))
  const names = (await readdir(real)).toSorted()
  const files = await Promise.all(names.map(async (name) => [name, await readFile(join(real, name))] as const))
  const sums = checksumsOf(files)
  await writeFile(join(real, 'SHA256SUMS'), sums)
  const bytes = await readFile(join(real, own))
  const middle = bytes.length >> 1
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
  await release('damaged', { [own]: bytes }, sums)
  await release('unlisted', { [own]: bytes }, sums.replaceAll(own, `not-${own}`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

after(async () => {
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true, force: true })
})

interface Ran {
  readonly code: number
  readonly text: string
}

const [{ path: kubectlPath } = { path: '' }] = kubectls().slice(-1)

/** What a runner gives a step, and nothing of this process. */
const environmentOf = (path: readonly string[] = []): Record<string, string> => ({
  HOME: folder,
  PATH: [...path, dirname(kubectlPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
})

const bash = (script: string, env: Readonly<Record<string, string>>, cwd = folder): Promise<Ran> =>
  new Promise((resolve) =>
    execFile(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script],
      { cwd, env, timeout: stepMsMax },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), text: out + err }),
    ),
  )

/** `name=value` lines of the files that a step writes for its runner. */
const valuesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

const evaluated = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, name: string) => {
    ok(Object.hasOwn(values, name), `${name} is known`)
    return values[name] ?? ''
  })

interface ActionRan extends Ran {
  readonly outputs: Readonly<Record<string, string>>
  readonly path: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

let runs = 0

/** Runs the step of action.yml as a runner does. */
async function runAction(
  inputs: Readonly<Record<string, string>>,
  runner: Readonly<Record<string, string>> = {},
  repository = 'someone/coxswain',
): Promise<ActionRan> {
  const temporary = join(folder, `run-${runs++}`)
  await mkdir(temporary)
  for (const name of Object.keys(inputs)) ok(Object.hasOwn(action.inputs, name), `${name} is an input`)
  const [step, ...more] = action.runs.steps
  deepEqual([more, step?.id], [[], 'cluster'])
  const values = Object.fromEntries([
    ...Object.entries(action.inputs).map(([name, { default: text }]) => [`inputs.${name}`, inputs[name] ?? text]),
    ['github.action_repository', repository],
  ]) as Record<string, string>
  const files = { GITHUB_ENV: join(temporary, 'env'), GITHUB_PATH: join(temporary, 'path') }
  const output = join(temporary, 'output')
  for (const file of [...Object.values(files), output]) await writeFile(file, '')
  const env = {
    ...environmentOf(),
    ...files,
    GITHUB_OUTPUT: output,
    GITHUB_ACTION_PATH: root,
    GITHUB_SERVER_URL: 'https://github.invalid',
    RUNNER_OS: 'Linux',
    RUNNER_ARCH: architecture,
    RUNNER_TEMP: temporary,
    ...runner,
    ...Object.fromEntries(Object.entries(step?.env ?? {}).map(([name, text]) => [name, evaluated(text, values)])),
  }
  const ran = await bash(step?.run ?? '', env)
  const read = (file: string) => readFile(file, 'utf8')
  const written = valuesOf(await read(output))
  const outputValues = Object.fromEntries(Object.entries(written).map(([k, v]) => [`steps.cluster.outputs.${k}`, v]))
  return {
    ...ran,
    outputs:
      ran.code === 0 && inputs['install-only'] !== 'true'
        ? Object.fromEntries(
            Object.entries(action.outputs).map(([name, { value }]) => [name, evaluated(value, outputValues)]),
          )
        : written,
    path: (await read(files.GITHUB_PATH)).split('\n').filter((line) => line !== ''),
    environment: valuesOf(await read(files.GITHUB_ENV)),
  }
}

/** The lines of a log that a runner shows as errors. */
const errorsIn = ({ text }: Ran): string[] =>
  [...text.matchAll(/^::error title=Coxswain::(.*)$/gm)].map(([, line = '']) => line)

test('the workflow of the page: its steps run in the cluster that the action has started', async () => {
  const { jobs } = workflow as { readonly jobs: { readonly test: { readonly steps: readonly Step[] } } }
  const steps = jobs.test.steps
  const uses = steps.find((step) => step.uses?.includes('coxswain@'))
  equal(uses?.uses, `<owner>/coxswain@v${version}`)
  const ran = await runAction({ ...uses?.with, 'download-url': `${origin}/real` })
  equal(ran.code, 0, ran.text)
  const env = { ...environmentOf(ran.path), ...ran.environment }
  try {
    match(ran.text, /^3 nodes are ready after/m)
    deepEqual(ran.environment, { KUBECONFIG: ran.outputs['kubeconfig'] })
    equal(ran.outputs['version'], version)
    const nodes = await bash('kubectl get nodes --no-headers', env)
    equal(nodes.text.match(/ Ready /g)?.length, 3, nodes.text)
    equal((await bash('kubectl config current-context', env)).text, 'coxswain\n')
    const outputs = { 'steps.cluster.outputs.data-dir': ran.outputs['data-dir'] ?? '' }
    for (const { run, env: more = {} } of steps.filter((each) => each.run !== undefined)) {
      const added = Object.entries(more).map(([name, text]) => [name, evaluated(text, outputs)])
      const { code, text } = await bash(run ?? '', { ...env, ...Object.fromEntries(added) })
      equal(code, 0, `${run}: ${text}`)
    }
    const again = await bash('kubectl flow deployment/web', env)
    match(again.text, /create deployments web/)
  } finally {
    await bash(`coxswain down --data-dir '${ran.outputs['data-dir']}'`, env)
  }
})

test('each architecture gets its archive, and version and path can be used without a cluster', async () => {
  for (const [runnerArchitecture, name] of [
    ['X64', 'x64'],
    ['ARM64', 'arm64'],
  ] as const) {
    requested.length = 0
    const inputs = { 'install-only': 'true', version: `v${version}`, 'download-url': `${origin}/real/` }
    const { code, text, outputs, path, environment } = await runAction(inputs, { RUNNER_ARCH: runnerArchitecture })
    equal(code, 0, text)
    deepEqual(requested, ['/real/SHA256SUMS', `/real/${archiveOf(name)}`])
    deepEqual([outputs, environment], [{ version }, {}])
    match((await bash('coxswain version && kubectl-why --help', environmentOf(path))).text, /^coxswain \d/)
  }
})

const mistakes: [
  what: string,
  inputs: Record<string, string>,
  error: (base: string) => string,
  runner?: Record<string, string>,
  repository?: string,
][] = [
  [
    'a wrong checksum',
    { 'download-url': 'damaged' },
    (base) => `${own} of ${base} does not have the checksum of SHA256SUMS`,
  ],
  ['no checksum', { 'download-url': 'unlisted' }, (base) => `SHA256SUMS of ${base} has no ${own}`],
  [
    'an unknown release',
    { version: '99.0.0', 'download-url': 'v99' },
    (base) => `cannot download ${base}/SHA256SUMS; is there a release 99.0.0?`,
  ],
  ['no version', { version: 'latest' }, () => "the input version must be a release such as 0.1.0, not 'latest'"],
  [
    'a name that is a path',
    { name: '../a' },
    () => "the input name must be lower case letters, digits, '-' and '.', not '../a'",
  ],
  ['no number', { nodes: '$(id)' }, () => "the input nodes must be a number, not '$(id)'"],
  ['no duration', { 'wait-timeout': 'long' }, () => "the input wait-timeout must be a duration such as 2m, not 'long'"],
  ['no boolean', { 'install-only': 'yes' }, () => "the input install-only must be true or false, not 'yes'"],
  [
    'no flag, with a line that a runner would take for a command',
    { flags: '--store=memory\nmemory\r::stop' },
    () => "each line of the input flags must be a flag, not 'memory%0D::stop'; write --flag=value",
  ],
  [
    'a flag of the action',
    { flags: '  --data-dir=/tmp' },
    () => 'the input flags must not have --data-dir=/tmp, which the action sets',
  ],
  [
    'no TLS',
    { 'download-url': 'http://mirror.invalid/a' },
    () => "the input download-url must begin with https://, not 'http://mirror.invalid/a'",
  ],
  ['another system', {}, () => 'there are releases for Linux, not for macOS', { RUNNER_OS: 'macOS' }],
  ['another processor', {}, () => 'there are releases for X64 and ARM64, not for ARM', { RUNNER_ARCH: 'ARM' }],
  [
    'an action without a repository',
    {},
    () => 'an action with a path (uses: ./…) needs the input download-url',
    {},
    '',
  ],
  [
    'the repository of the action, which has no such release',
    {},
    () =>
      `cannot download https://github.invalid/someone/coxswain/releases/download/v${version}/SHA256SUMS; is there a release ${version}?`,
  ],
]
for (const [what, inputs, error, runner, repository] of mistakes)
  test(`the action fails with a reason: ${what}`, async () => {
    const { 'download-url': url } = inputs
    const base = url === undefined || url.includes(':') ? url : `${origin}/${url}`
    const all = base === undefined ? inputs : { ...inputs, 'download-url': base }
    const ran = await runAction(all, runner, repository)
    equal(ran.code, 1, ran.text)
    deepEqual(errorsIn(ran), [error(base ?? '')])
    deepEqual([ran.path, ran.environment, ran.outputs], [[], {}, {}], 'nothing is installed')
  })

test('a flag that coxswain does not have fails the step, with its message', async () => {
  const ran = await runAction({ flags: '--ndoes=3', 'download-url': `${origin}/real` })
  equal(ran.code, 1)
  match(ran.text, /unknown flag --ndoes; did you mean --nodes\?/)
  deepEqual([errorsIn(ran).length, ran.environment], [1, {}])
})

interface GitLabJob {
  readonly variables: Readonly<Record<string, string>>
  readonly before_script: readonly string[]
  readonly script: readonly string[]
}

/** GitLab runs the lines of both scripts in one shell, in the folder of the project. */
async function runJob(job: unknown, path: readonly string[], variables: Readonly<Record<string, string>>) {
  const { variables: ofJob, before_script: first, script } = (job as { readonly test: GitLabJob }).test
  const project = join(folder, `run-${runs++}`)
  await mkdir(project)
  const env: Record<string, string> = { ...environmentOf(path), ...variables, CI_PROJECT_DIR: project }
  for (const [name, text] of Object.entries(ofJob)) env[name] = text.replace('$CI_PROJECT_DIR', project)
  // Packages of the system are not installed by a test.
  const lines = [...first, ...script].filter((line) => !line.startsWith('apt-get '))
  const stop = `trap 'coxswain down --data-dir .coxswain' EXIT`
  return bash([stop, ...lines].join('\n'), env, project)
}

test('the job of the page in the container image, which has coxswain and kubectl', async () => {
  const { path } = await runAction({ 'install-only': 'true', 'download-url': `${origin}/real` })
  // No port is chosen in a container. Here, others may use the default.
  const text = JSON.stringify(inImage).replace('coxswain up ', 'coxswain up --port 0 ')
  const { code, text: printed } = await runJob(JSON.parse(text), path, {})
  equal(code, 0, printed)
  match(printed, /^deployment "web" successfully rolled out$/m)
  match(printed, /^Process \d+ has ended\.$/m)
})

test('the job of the page with the executable', async () => {
  const text = JSON.stringify(withExecutable)
  ok(text.includes(basename(archiveOf('x64'))))
  const job = text.replaceAll(archiveOf('x64'), own).replace('coxswain up ', 'coxswain up --port 0 ')
  const { code, text: printed } = await runJob(JSON.parse(job), [], { COXSWAIN_RELEASE: `${origin}/real` })
  equal(code, 0, printed)
  match(printed, new RegExp(`^${RegExp.escape(own)}: OK$`, 'm'))
  match(printed, /^Process \d+ has ended\.$/m)
})
