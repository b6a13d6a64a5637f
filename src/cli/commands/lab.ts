// coxswain lab: a broken simulated cluster to repair, with hints and a check of the solution.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { didYouMean, similarNames } from '../../base/text/similar-names.ts'
import { situations } from '../../cluster/lab/situations.ts'
import type { Situation } from '../../cluster/lab/situations/situation.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'

export const lab = defineCommand({
  name: 'lab',
  summary: 'starts a broken simulated cluster to repair, with hints; without a name it lists the situations',
  operands: '[<situation>]',
  operandValues: () => situations.map((each) => each.name),
  options: {},
  async run({ operands: [name] }, terminal) {
    if (name === undefined) {
      const width = Math.max(...situations.map((each) => each.name.length))
      terminal.out(situations.map((each) => `${each.name.padEnd(width)}  ${each.story}\n`).join(''))
      terminal.out(
        '\ncoxswain lab <situation> starts a simulated cluster in that situation. You repair it with kubectl.\n',
      )
      return 0
    }
    const situation = situations.find((each) => each.name === name)
    if (situation === undefined) {
      const question = didYouMean(
        similarNames(
          name,
          situations.map((each) => each.name),
        ),
      )
      throw new UsageError(`unknown situation ${JSON.stringify(name)}; ${question || 'coxswain lab lists all'}`)
    }
    return repair(situation, terminal)
  },
})

/** The exit code is 0 if the cluster was repaired. */
async function repair(situation: Situation, { out, signal }: Terminal): Promise<number> {
  // Only this command needs the library for tests.
  const [{ startBroken }, { runLab }] = await Promise.all([
    import('../../cluster/lab/broken-cluster.ts'),
    import('../../cluster/lab/lab-session.ts'),
  ])
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-lab-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const cluster = stack.use(await startBroken(situation, { time: 'flowing' }))
  const kubeconfigPath = join(folder, 'kubeconfig')
  await writeFile(kubeconfigPath, cluster.kubeconfig, { mode: 0o600 })
  const lines = createInterface({ input: process.stdin, signal })
  stack.defer(() => lines.close())
  return (await runLab(situation, cluster, kubeconfigPath, { out, lines })) ? 0 : 1
}
