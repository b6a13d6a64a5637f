// The scenario of the example operator, with the library of the source tree, and the operator as a program. test/package
// runs the scenario with the package in node:test, Vitest and Jest.
import { deepEqual, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createRequire, registerHooks } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { deployment, startCluster, type Kind } from '../../src/cluster/index.ts'
import { newFolder } from '../process.ts'
import { until } from '../until.ts'

const library = new URL('../../src/cluster/index.ts', import.meta.url).href
const isLibrary = /^coxswain(\/controller)?$/
registerHooks({
  resolve: (specifier, context, next) =>
    isLibrary.test(specifier) ? { url: library, shortCircuit: true } : next(specifier, context),
})
const load = createRequire(import.meta.url)
const { scenario } = load('../../examples/operator/scenario.cjs') as {
  readonly scenario: Readonly<Record<string, () => Promise<void>>>
}

for (const [name, run] of Object.entries(scenario)) test(name, run)

/** Loaded by the program: the package is the source tree. */
const hooks = `import { registerHooks } from 'node:module'
  registerHooks({ resolve: (specifier, context, next) =>
    ${isLibrary}.test(specifier) ? { url: ${JSON.stringify(library)}, shortCircuit: true } : next(specifier, context) })`

test('the operator runs as a program in the cluster of a kubeconfig', async () => {
  const { website } = load('../../examples/operator/website.cjs') as { readonly website: Kind }
  await using cluster = await startCluster({ time: 'flowing' })
  const folder = await newFolder()
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, cluster.kubeconfig)
  const main = fileURLToPath(new URL('../../examples/operator/main.cjs', import.meta.url))
  const child = spawn(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(hooks)}`,
    main,
    kubeconfig,
  ])
  const exited = once(child, 'close')
  let printed = ''
  let complained = ''
  child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (complained += piece.toString()))
  try {
    await until(() => printed.includes(`watches the websites of ${cluster.url}\n`))
    const spec = { host: 'blog.example.com', image: 'nginx', replicas: 2 }
    await cluster.apply({ apiVersion: 'example.com/v1', kind: 'Website', metadata: { name: 'blog' }, spec })
    await until(async () => (await cluster.client.of(deployment).find('blog'))?.status.readyReplicas === 2)
    await cluster.client.of(website).delete('blog')
    await until(() => printed.includes('blog.example.com is removed\n'))
    match(printed, /\nblog\.example\.com -> blog\.default\n/)
  } finally {
    child.kill('SIGTERM')
    deepEqual(await exited, [0, null], complained)
    await rm(folder, { recursive: true })
  }
})
