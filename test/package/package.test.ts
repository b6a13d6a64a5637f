// The published package: packed, installed elsewhere, and used as ESM, as CommonJS and as a program, on the oldest
// supported Node.js and on the newest.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
// @ts-expect-error -- plain JavaScript: it runs before the packages are there
import { oldestNode } from '../../scripts/oldest-node.mjs'
import packageFields from '../../package.json' with { type: 'json' }
import { commands } from '../../src/cli/commands.ts'
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

/** A copy of the checkout as a clone of another time has it, with another umask. */
async function otherClone(): Promise<string> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  const clone = await mkdtemp(join(root, '.cache', 'clone-'))
  for (const path of stdout.split('\0').filter((each) => each !== '' && existsSync(join(root, each)))) {
    const copy = join(clone, path)
    await mkdir(dirname(copy), { recursive: true })
    await copyFile(join(root, path), copy)
    await chmod(copy, (await stat(copy)).mode & ~0o077)
    await utimes(copy, 1_000_000_000, 1_000_000_000)
  }
  // The same files without a copy of their content; a link to the folder would be resolved to this checkout.
  await run('cp', ['--archive', '--link', join(root, 'node_modules'), join(clone, 'node_modules')])
  return clone
}

test('two clones make the same package, byte for byte', async () => {
  const clone = await otherClone()
  try {
    const packed = join(clone, '.cache')
    await mkdir(packed, { recursive: true })
    await run('npm', ['pack', '--pack-destination', packed], { cwd: clone, env: { ...process.env, TZ: 'Asia/Tokyo' } })
    const sumOf = async (of: string): Promise<string> => hash('sha256', await readFile(join(of, tarballName)))
    equal(await sumOf(packed), await sumOf(folder))
  } finally {
    await rm(clone, { recursive: true })
  }
})

interface Bill {
  readonly bomFormat: string
  readonly specVersion: string
  readonly metadata: { readonly component: { readonly name: string; readonly version: string; readonly purl: string } }
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly type: string
    readonly group?: string
    readonly name: string
    readonly version: string
    readonly purl: string
    readonly licenses: readonly unknown[]
    readonly hashes: readonly { readonly alg: string; readonly content: string }[]
    readonly properties: readonly { readonly value: string }[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

test('the package has a bill of materials of what is in it, with the licenses of others', async () => {
  const dist = join(folder, 'node_modules', 'coxswain', 'dist')
  const bill = JSON.parse(await readFile(join(dist, 'sbom.cdx.json'), 'utf8')) as Bill
  deepEqual([bill.bomFormat, bill.specVersion], ['CycloneDX', '1.6'])
  const { name: ownName, version: ownVersion, purl: ownPurl } = bill.metadata.component
  deepEqual(
    [ownName, ownVersion, ownPurl],
    ['coxswain', packageFields.version, `pkg:npm/coxswain@${packageFields.version}`],
  )
  const refs = bill.components.map((each) => each['bom-ref'])
  equal(new Set(refs).size, refs.length, 'each package once')
  deepEqual(new Set(bill.dependencies.map(({ ref }) => ref)), new Set([ownPurl, ...refs]))
  for (const { ref, dependsOn } of bill.dependencies)
    for (const each of dependsOn) ok(refs.includes(each), `${ref} depends on ${each}, which is listed`)
  const of = (packaging: string) =>
    bill.components.filter(({ properties }) => properties.some(({ value }) => value === packaging))
  for (const { type, purl, name, version, licenses, hashes } of bill.components) {
    equal(type, 'library')
    ok(purl.startsWith('pkg:npm/') && purl.endsWith(`${name}@${version}`), purl)
    equal(licenses.length, 1, purl)
    deepEqual(
      hashes.map(({ alg, content }) => [alg, /^[0-9a-f]{128}$/.test(content)]),
      [['SHA-512', true]],
      purl,
    )
  }
  const names = (packaging: string) =>
    of(packaging).map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
  const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: folder })
  const installed = stdout
    .split('node_modules/')
    .slice(1)
    .map((path) => path.trim().split('\n')[0] ?? '')
  deepEqual(names('installed'), installed.filter((each) => each !== 'coxswain').toSorted(), 'what npm has installed')
  // Lit's parts register their versions where they are executed.
  const page = (await readdir(join(dist, 'ui'))).filter((file) => file.endsWith('.js'))
  const scripts = (await Promise.all(page.map((file) => readFile(join(dist, 'ui', file), 'utf8')))).join('')
  for (const [part, global] of [
    ['lit-html', 'litHtmlVersions'],
    ['lit-element', 'litElementVersions'],
    ['reactive-element', 'reactiveElementVersions'],
  ] as const) {
    const { version } = of('bundled').find(({ name }) => name === part) ?? {}
    match(scripts, new RegExp(`${global}.{0,20}push\\([\`'"]${version}[\`'"]\\)`), part)
  }
  const programs = (await readdir(dist)).filter((file) => /\.[cm]js$/.test(file))
  const texts = await Promise.all(programs.map((file) => readFile(join(dist, file), 'utf8')))
  equal(
    texts.some((text) => text.includes('//#region node_modules/')),
    false,
    'the programs contain no packages',
  )
  const licenses = await readFile(join(dist, 'third-party-licenses.txt'), 'utf8')
  for (const name of names('bundled')) ok(licenses.includes(`${name}\n${'='.repeat(name.length)}\n`), name)
})

test('the package has a manual page for each command', async () => {
  const installed = join(folder, 'node_modules', 'coxswain')
  const { man } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as { man: readonly string[] }
  deepEqual(
    man,
    ['coxswain', ...commands.map(({ name }) => `coxswain-${name}`)].map((name) => `./dist/man/${name}.1`).toSorted(),
  )
  for (const page of man) match(await readFile(join(installed, page), 'utf8'), /^\.TH "COXSWAIN/)
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
