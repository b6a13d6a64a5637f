// The contract of control groups on the host's own cgroups.
import { newUid } from '../../src/base/random/ids.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { cgroupsContract } from '../../src/machine/cgroups/cgroups-contract.suite.ts'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { inNamespaces } from './namespaces.ts'

inNamespaces(import.meta.url, () => {
  cgroupsContract('host', async () => ({
    cgroups: await NodeCgroups.open(),
    path: `/coxswain-contract-${newUid(systemRandom)}`,
  }))
})
