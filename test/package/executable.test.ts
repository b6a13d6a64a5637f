// The single executable: built, and used in a folder without the sources, with an environment that names no program.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { Agent, request } from 'undici'
// @ts-expect-error -- plain JavaScript, as all scripts
import { makeArchive } from '../../scripts/executable-archive.mjs'
// @ts-expect-error -- plain JavaScript, as all scripts
import { makeExecutable } from '../../scripts/executable.mjs'
import packageFields from '../../package.json' with { type: 'json' }
import { accessOf, originOf } from '../access.ts'
import { kubectls } from '../kubectl.ts'

const run = promisify(execFile)
const { version } = packageFields
let folder = ''
let executable = ''
let home = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-executable-'))
  executable = join(folder, 'bin', 'coxswain')
  home = join(folder, 'home')
  await mkdir(home)
  await (makeExecutable as (file: string) => Promise<unknown>)(executable)
  for (const name of ['kubectl-flow', 'kubectl-why']) await symlink('coxswain', join(folder, 'bin', name))
})

after(() => rm(folder, { recursive: true, force: true }))

/** What a program prints, in an environment with nothing but a home. */
const printed = async (program: string, ...args: string[]): Promise<string> =>
  (await run(program, args, { cwd: home, env: { HOME: home } })).stdout

test('it is one file, and prints its version without any environment', async () => {
  deepEqual((await readdir(dirname(executable))).toSorted(), ['coxswain', 'kubectl-flow', 'kubectl-why'])
  const { stdout } = await run(executable, ['--version'], { cwd: '/', env: {} })
  ok(stdout.startsWith(`coxswain ${version}, `), stdout)
})

test('services and tools are started by the path of the executable', async () => {
  const unit = await printed(executable, 'service', 'install', 'up', '--dry-run', '--', '--nodes', '2')
  ok(unit.includes(`\nExecStart=${executable} up --nodes 2\n`), unit)
  await printed(executable, 'tools', 'link', join(folder, 'tools'))
  match(await printed(join(folder, 'tools', 'kube-apiserver'), '--help'), /kube-apiserver/)
})

test('a cluster in the background: kubectl, its plugins, long YAML, the page, a snapshot, the end', async () => {
  const [kubectl] = kubectls()
  ok(kubectl !== undefined)
  const started = await printed(
    executable,
    ...['up', '--detach', '--wait', '--runtime', 'simulated', '--port', '0', '--nodes', '2'],
  )
  try {
    match(started, /^ready in \d+ ms at https:[^]*\n2 nodes are ready after/)
    const [, pid = ''] = /background as process (\d+)/.exec(started) ?? []
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8')
    ok(environment.split('\0').includes('MALLOC_ARENA_MAX=2'), 'the C library is configured as by the other launchers')

    const data = join(home, '.local', 'share', 'coxswain')
    const kubeconfig = join(data, 'admin.kubeconfig')
    const env = { HOME: home, KUBECONFIG: kubeconfig, PATH: dirname(executable) }
    const typed = async (...args: string[]) => (await run(kubectl.path, args, { cwd: home, env })).stdout
    await typed('create', 'deployment', 'web', '--image=nginx', '--replicas=3')
    await typed('rollout', 'status', 'deployment/web', '--timeout=60s')
    match(await typed('get', 'deployment', 'web', '--no-headers'), /^web +3\/3 /)
    match(await typed('flow', 'deployment/web'), /create deployments web/)
    match(await typed('why', 'deployment/web'), /^deployment\/web\n/)
    match(await printed(executable, 'why', 'deployment/web'), /^deployment\/web\n/)

    // The server parses it in a thread.
    const access = accessOf(kubeconfig)
    const { ca, cert, key } = access
    const dispatcher = new Agent({ connect: { ca, cert, key } })
    try {
      const text = 'ä'.repeat(10_000)
      const { statusCode, body } = await request(`${originOf(access)}/api/v1/namespaces/default/configmaps`, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/yaml' },
        body: `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: long }\ndata:\n  text: ${text}\n`,
      })
      const created = (await body.json()) as { readonly data?: { readonly text: string } }
      deepEqual([statusCode, created.data?.text], [201, text])

      const page = await request(`${originOf(access)}/ui/`, { dispatcher })
      equal(page.statusCode, 200)
      const [, script = ''] = /src="([^"]+\.js)"/.exec(await page.body.text()) ?? []
      const loaded = await request(new URL(script, `${originOf(access)}/ui/`), { dispatcher })
      equal(loaded.statusCode, 200)
      ok((await loaded.body.bytes()).length > 100_000, script)
    } finally {
      await dispatcher.close()
    }

    await printed(executable, 'snapshot', join(folder, 'snapshot'))
    ok((await stat(join(folder, 'snapshot'))).size > 0)
    equal(await printed(executable, 'down'), `Process ${pid} has ended.\n`)
  } finally {
    await printed(executable, 'down')
  }
})

test('a release has an archive with the same bytes, the licenses and a bill of materials', async () => {
  const release = join(folder, 'release')
  await (makeArchive as (into: string) => Promise<unknown>)(release)
  const base = `coxswain-${version}-linux-${process.arch}`
  deepEqual((await readdir(release)).toSorted(), [`${base}.cdx.json`, `${base}.tar.gz`])
  const unpacked = join(folder, 'unpacked')
  await mkdir(unpacked)
  await run('tar', ['-xzf', join(release, `${base}.tar.gz`), '-C', unpacked])
  const sumOf = async (file: string) => hash('sha256', await readFile(file))
  equal(await sumOf(join(unpacked, 'coxswain')), await sumOf(executable), 'the executable is reproducible')
  match(await printed(join(unpacked, 'kubectl-why'), '--help'), /^Lists what is wrong in the cluster/)
  const licenses = await readFile(join(unpacked, 'third-party-licenses.txt'), 'utf8')
  const bill = JSON.parse(await readFile(join(release, `${base}.cdx.json`), 'utf8')) as {
    readonly components: readonly {
      readonly group?: string
      readonly name: string
      readonly properties: readonly { readonly value: string }[]
    }[]
  }
  const names = bill.components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
  for (const each of [...Object.keys(packageFields.dependencies), 'lit', `node-linux-${process.arch}`])
    ok(names.includes(each), each)
  for (const each of names) ok(licenses.includes(`${each}\n${'='.repeat(each.length)}\n`), each)
  deepEqual(
    [...new Set(bill.components.flatMap(({ properties }) => properties.map(({ value }) => value)))],
    ['bundled'],
  )
})
