// Records `test/volume-scheduling/recorded.json` from a fresh kube-apiserver with kube-scheduler and without controllers:
//   node test/record/volume-scheduling.ts admin.kubeconfig
import { readFileSync, writeFileSync } from 'node:fs'
import { realClock } from '../../src/base/time/clock.ts'
import { openRemote } from '../../src/cluster/client/remote.ts'
import { openCluster, Stage } from '../volume-scheduling/scenario.ts'
import { scenarios } from '../volume-scheduling/scenarios.ts'

const stopped = new AbortController()
const remote = await openRemote(readFileSync(process.argv[2] ?? '', 'utf8'), stopped.signal)
const client = remote.clientAs('test')
const settleMs = 2_500
await openCluster(client)
const lines: string[] = []
for (const [index, { name, run }] of scenarios.entries()) {
  const stage = new Stage(client, `s${index}`)
  await stage.open()
  await run(stage)
  await realClock.sleep(settleMs, stopped.signal)
  lines.push(`${JSON.stringify(name)}: ${JSON.stringify(await stage.outcome())}`)
}
writeFileSync(new URL('../volume-scheduling/recorded.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`)
await remote.close()
