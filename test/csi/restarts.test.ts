// Flows 07 and 14 with components killed and restarted at every arrow, which is between any two writes and calls of the
// driver: data stays, no volume is attached to two nodes, and no object, mount or directory is left. test/flows/07 does
// the same with the driver and the callers of its methods, mounted-restarts.test.ts with real mounts.
import { test } from 'node:test'
import { simulatedStorage } from './storage-under-test.ts'
import { arrowsOf, bindingModes, liveWithKills, startLives } from './volume-life.ts'

/** The flows share most arrows, so each is tested with every second one. COXSWAIN_LONG=1: with all. */
const everyNth = process.env['COXSWAIN_LONG'] === '1' ? 1 : 2
const groups = [['kubelet/node-0', 'kubelet/node-1'], ['controllers'], ['scheduler'], ['csi-sidecars']]

for (const [flow, mode] of Object.entries(bindingModes))
  for (const components of groups)
    test(`flow ${flow}: ${components.join(' and ')} killed at every arrow`, async () => {
      await using storage = await startLives(simulatedStorage, mode)
      const arrows = await arrowsOf(storage)
      for (let at = Number(flow) % everyNth; at <= arrows; at += everyNth)
        await liveWithKills(storage, `data-${at}`, components, at)
    })
