// The commands that `coxswain why` prints repair the situations of the lab: each is typed as it is printed, into a shell with
// the real kubectl.
import { equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { isRepaired, startBroken } from '../../src/cluster/lab/broken-cluster.ts'
import { situations } from '../../src/cluster/lab/situations.ts'
import { kubectls } from '../kubectl.ts'
import { coxswain } from '../process.ts'
import { until } from '../until.ts'

const kubectl = kubectls().at(-1)
if (kubectl === undefined) throw new Error('there is no kubectl')
const path = [dirname(kubectl.path), dirname(coxswain), process.env['PATH']].join(':')

interface Ended {
  readonly code: number
  readonly out: string
}

const typed = (command: string, kubeconfig: string): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...process.env, PATH: path, KUBECONFIG: kubeconfig }
    execFile('/bin/sh', ['-c', command], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out: `${out}${err}` }),
    )
  })

/** Only a new image or a new manifest helps. */
const withoutCommand = new Set(['crash-loop', 'failed-job'])

for (const situation of situations)
  test(`the command for ${situation.name} repairs it`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-why-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const cluster = stack.use(await startBroken(situation, { time: 'flowing' }))
    const kubeconfig = join(folder, 'kubeconfig')
    await writeFile(kubeconfig, cluster.kubeconfig)
    const { object, namespace } = situation.asked
    const why = `coxswain why ${object}${namespace === '' ? '' : ` -n ${namespace}`} --exit-code`

    const before = await typed(why, kubeconfig)
    equal(before.code, 1, before.out)
    ok(before.out.includes(situation.symptom), before.out)
    const listed = await typed('coxswain why --exit-code', kubeconfig)
    equal(listed.code, 1)
    match(listed.out, /^\d+ problems? in the cluster, the most severe first\.\n/)

    const command = /^Fix: (.*)$/m.exec(before.out)?.[1]
    equal(command === undefined, withoutCommand.has(situation.name), before.out)
    if (command === undefined) return
    const fixed = await typed(command, kubeconfig)
    equal(fixed.code, 0, `${command}: ${fixed.out}`)
    await until(async () => {
      await cluster.clock.advance('5s')
      return isRepaired(cluster, situation)
    })
  })
