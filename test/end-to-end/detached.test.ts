// coxswain up --detach and coxswain down, as in a script of a CI job.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, newFolder } from '../process.ts'

const run = (...args: string[]) =>
  promisify(execFile)(coxswain, args).then(
    ({ stdout }) => ({ code: 0, out: stdout, err: '' }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout,
      err: stderr,
    }),
  )

test('a cluster in the background is ready when the command returns, and ends with coxswain down', async () => {
  const folder = await newFolder()
  const data = join(folder, 'data')
  const kubeconfig = join(folder, 'kubeconfig')
  const place = ['--data-dir', data]
  const flags = ['--port', '0', '--runtime', 'simulated', '--kubeconfig', kubeconfig, ...place]
  try {
    const started = await run('up', '--detach', ...flags)
    match(
      started.out,
      /^ready in \d+ ms at https:.*\n\n {2}nodes +1 simulated[^]*\n {2}Next:\n {4}export KUBECONFIG=\S+kubeconfig\n[^]*\n\nIt runs in the background as process \d+; its output is in .*up\.log\./,
    )
    const [kubectl] = kubectls()
    if (kubectl === undefined) throw new Error('kubectls() fails without one')
    equal((await runKubectl(kubectl, kubeconfig, ['get', 'namespaces'])).code, 0)
    equal((await run('status', ...place)).code, 0)

    const second = await run('up', '--detach', ...flags)
    equal(second.code, 1)
    match(second.err, /^coxswain up: it has ended before it was ready: [^]*is in use by process \d+/)

    const [, pid] = /process (\d+)/.exec(started.out) ?? []
    equal((await run('down', ...place)).out, `Process ${pid} has ended.\n`)
    equal((await run('status', ...place)).code, 3)
    equal((await run('down', ...place)).out, `Nothing runs in ${data}.\n`)
    const waited = await run('up', '-dv', '--wait', '--nodes', '2', ...flags)
    match(waited.out, /^ready in [^]*\n\n2 nodes are ready after \d+\.\d s\nIt runs in the background as process/)
    const nodes = await runKubectl(kubectl, kubeconfig, ['get', 'nodes', '--no-headers'])
    match(nodes.out, /^node-0 +Ready .*\nnode-1 +Ready .*\n$/)
    match((await run('stop', ...place)).out, /^Process \d+ has ended\.\n$/)
    equal((await run('reset', '--yes', ...place)).code, 0)
    deepEqual(await readdir(data), [])
  } finally {
    await run('down', ...place)
    await rm(folder, { recursive: true, force: true })
  }
})
