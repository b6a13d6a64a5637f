// Flows 07 and 14 with components killed and restarted at every arrow, which is between any two writes and calls of the
// driver: data stays, no volume is attached to two nodes, and no object, mount or directory is left. test/flows/07 does
// the same with the driver and the callers of its methods, test/containers/csi.test.ts with real mounts.
import { test } from 'node:test'
import { live, startLives } from './volume-life.ts'

const modes = { '07': 'WaitForFirstConsumer', '14': 'Immediate' } as const
/** The flows share most arrows, so each is tested with every second one. COXSWAIN_LONG=1: with all. */
const everyNth = process.env['COXSWAIN_LONG'] === '1' ? 1 : 2
const restartAfterMs = 100
const groups = [['kubelet/node-0', 'kubelet/node-1'], ['controllers'], ['scheduler'], ['csi-sidecars']]

for (const [flow, mode] of Object.entries(modes))
  for (const components of groups)
    test(`flow ${flow}: ${components.join(' and ')} killed at every arrow`, async () => {
      await using cluster = await startLives(mode)
      // The number of arrows is that of the longest phase of a life without kills.
      let arrows = 0
      await live(cluster, 'calm', async (_, arrow) => void (arrows = Math.max(arrows, arrow)))
      for (let at = Number(flow) % everyNth; at <= arrows; at += everyNth)
        await live(cluster, `data-${at}`, async (_, arrow) => {
          if (arrow !== at) return
          for (const component of components) await cluster.kill(component)
          await cluster.clock.advance(restartAfterMs)
          for (const component of components) cluster.start(component)
        })
    })
