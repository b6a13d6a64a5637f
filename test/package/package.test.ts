// The published package: packed, installed elsewhere, and used as ESM, as CommonJS and as a program, on the oldest
// supported Node.js and on the newest.
import { equal, match, rejects } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
// @ts-expect-error -- plain JavaScript: it runs before the packages are there
import { oldestNode } from '../../scripts/oldest-node.mjs'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
let folder = ''

const body = `
  const ctx = context(new AbortController().signal)
  const cluster = await startCluster()
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await cluster.client.of(pod).create({ metadata: { name: 'a' }, spec }, 'default', ctx)
  await cluster.clock.advance('5s')
  console.log((await cluster.client.of(pod).get('a', 'default', ctx)).status.phase)
  await cluster.stop()`

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-package-'))
  await run('npm', ['pack', '--pack-destination', folder], { cwd: root })
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  const tarball = join(folder, 'coxswain-0.0.1.tgz')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: folder })
  await writeFile(join(folder, 'esm.mjs'), `import { startCluster, pod, context } from 'coxswain'${body}`)
  await writeFile(
    join(folder, 'common.cjs'),
    `const { startCluster, pod, context } = require('coxswain')\nvoid (async () => {${body}\n})()`,
  )
  await writeFile(
    join(folder, 'both.mjs'),
    `import { StatusError } from 'coxswain'
    import { createRequire } from 'node:module'
    console.log(createRequire(import.meta.url)('coxswain').StatusError === StatusError)`,
  )
})

after(() => rm(folder, { recursive: true, force: true }))

for (const [name, node] of [
  ['the newest Node.js', process.execPath],
  ['the oldest Node.js', oldestNode(root)],
] as const)
  test(`the installed package runs on ${name}`, async () => {
    const printed = async (file: string) => (await run(node, [file], { cwd: folder })).stdout.trim()
    equal(await printed('esm.mjs'), 'Running')
    equal(await printed('common.cjs'), 'Running')
    equal(await printed('both.mjs'), 'true', 'one library, however it is loaded')
    const program = join(folder, 'node_modules', 'coxswain', 'dist', 'coxswain.cjs')
    const child = spawn(node, [
      program,
      'up',
      '--runtime',
      'simulated',
      '--port',
      '0',
      '--data-dir',
      join(folder, 'data'),
    ])
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    match(line, /^ready in \d+ ms at https:/)
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number | null]
    equal(code, 0)
  })

test('an older Node.js gets a message before it loads code that it cannot parse', async () => {
  const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
  await writeFile(join(folder, 'older.cjs'), older)
  const complaint = /coxswain needs Node\.js 24 or newer; this is v\d+/
  for (const file of ['node_modules/.bin/coxswain', 'node_modules/.bin/kubectl-flow', 'esm.mjs', 'common.cjs'])
    await rejects(run(process.execPath, ['-r', './older.cjs', file], { cwd: folder }), complaint)
})

for (const [name, count] of [
  ['operator', 9],
  ['shop', 4],
] as const)
  test(`the example ${name} passes in node:test, Vitest and Jest`, async () => {
    const example = join(folder, name)
    await cp(join(root, 'examples', name), example, { recursive: true })
    const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock']
    await run('npm', [...install, join(folder, 'coxswain-0.0.1.tgz')], { cwd: example })
    const environment = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, CI: 'true' }
    // This process is a test itself: the inner test runner must not report to it.
    const { NODE_TEST_CONTEXT: _, ...env } = environment as Record<string, string | undefined>
    const passed = async (script: string) => {
      const { stdout, stderr } = await run('npm', ['run', script], { cwd: example, env })
      return `${stdout}${stderr}`
    }
    match(await passed('test:node'), new RegExp(`pass ${count}\\b`))
    match(await passed('test:vitest'), new RegExp(`${count} passed`))
    match(await passed('test:jest'), new RegExp(`${count} passed`))
  })

test('the package contains no Node.js, and declares its types', async () => {
  const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: folder })
  equal(/node-linux/.test(stdout), false)
  await writeFile(
    join(folder, 'use.mts'),
    `import { context, pod, startCluster } from 'coxswain'
    await using cluster = await startCluster({ nodes: 2 })
    const found = await cluster.client.of(pod).get('a', 'default', context(new AbortController().signal))
    export const phase: string | undefined = found.status.phase`,
  )
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'esnext',
    '--types',
    '',
  ]
  await run(join(root, 'node_modules', '.bin', 'tsc'), [...options, 'use.mts'], { cwd: folder })
})
