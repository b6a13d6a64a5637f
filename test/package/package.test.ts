// The published package: packed, installed elsewhere, and used as ESM, as CommonJS and as a program, on the oldest
// supported Node.js and on the newest.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
// @ts-expect-error -- plain JavaScript: it runs before the packages are there
import { oldestNode } from '../../scripts/oldest-node.mjs'
import packageFields from '../../package.json' with { type: 'json' }
import { openBrowser, openPage } from '../ui/chromium.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const tarballName = `coxswain-${packageFields.version}.tgz`
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
  const tarball = join(folder, tarballName)
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
    await run('npm', [...install, join(folder, tarballName)], { cwd: example })
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
    if (name === 'operator') await failsWithReports(example, env)
  })

/** Tests that fail, in each framework. The report has the names of the suite and of the test. */
const failing = {
  'failing.node-test.mjs': `import { fail } from 'node:assert/strict'
    import { suite, test } from 'node:test'
    import { reportOnFailure, startCluster, withCluster } from 'coxswain'
    import { rollOut } from './roll-out.cjs'
    suite('node', () => {
      test('reported', async (t) => {
        await using cluster = await startCluster()
        reportOnFailure(t, cluster)
        await rollOut(cluster)
        fail('not as expected')
      })
      test('wrapped', withCluster({}, async (cluster) => {
        await rollOut(cluster)
        fail('not as expected')
      }))
    })`,
  'failing.vitest.mjs': `import { describe, test } from 'vitest'
    import { reportOnFailure, startCluster, withCluster } from 'coxswain'
    import { rollOut } from './roll-out.cjs'
    describe('vitest', () => {
      test('reported', async (context) => {
        await using cluster = await startCluster()
        reportOnFailure(context, cluster)
        await rollOut(cluster)
        throw new Error('not as expected')
      })
      test('wrapped', withCluster({}, async (cluster) => {
        await rollOut(cluster)
        throw new Error('not as expected')
      }))
      test('passing', withCluster({}, rollOut))
    })`,
  'failing.jest.cjs': `const { withCluster } = require('coxswain')
    const { rollOut } = require('./roll-out.cjs')
    describe('jest', () => {
      test('wrapped', withCluster({}, async (cluster) => {
        await rollOut(cluster)
        throw new Error('not as expected')
      }))
      test('passing', withCluster({}, rollOut))
    })`,
  'roll-out.cjs': `exports.rollOut = (cluster) => cluster.apply(\`apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: default }\`)`,
}

async function failsWithReports(example: string, env: NodeJS.ProcessEnv): Promise<void> {
  for (const [file, text] of Object.entries(failing)) await writeFile(join(example, file), text)
  const printed = async (program: string, ...args: string[]): Promise<string> =>
    run(program, args, { cwd: example, env }).then(
      () => 'it has passed',
      ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
    )
  const bin = (name: string): string => join(example, 'node_modules', '.bin', name)
  const config = '{ "testMatch": ["**/failing.jest.cjs"], "transform": {}, "testTimeout": 60000 }'
  for (const [framework, output] of [
    ['node', await printed(process.execPath, '--test', 'failing.node-test.mjs')],
    ['vitest', await printed(bin('vitest'), 'run', 'failing')],
    ['jest', await printed(bin('jest'), '--config', config)],
  ] as const)
    match(output, new RegExp(`report of the cluster is in coxswain-reports/${framework}-wrapped.html`), output)
  const reports = join(example, 'coxswain-reports')
  deepEqual((await readdir(reports)).toSorted(), [
    'jest-wrapped.html',
    'node-reported.html',
    'node-wrapped.html',
    'vitest-reported.html',
    'vitest-wrapped.html',
  ])
  const browser = await openBrowser()
  try {
    for (const file of await readdir(reports)) {
      await using opened = await openPage(browser)
      await opened.page.goto(`${pathToFileURL(join(reports, file)).href}#flows?object=configmaps/default/settings`)
      await opened.page.getByText('put configmap settings').first().waitFor()
      match(await opened.page.locator('body').innerText(), /not as expected/, file)
    }
  } finally {
    await browser.close()
  }
}

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
