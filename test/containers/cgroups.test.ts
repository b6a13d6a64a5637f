// The contract of control groups on the host's own.
import { cgroupsContract } from '../../src/machine/cgroups/contract.suite.ts'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { inNamespaces } from './namespaces.ts'

inNamespaces(import.meta.url, () => {
  let groups = 0
  cgroupsContract('host', async () => ({
    cgroups: await NodeCgroups.open(),
    path: `/coxswain-contract-${process.ppid}-${process.pid}-${++groups}`,
  }))
})
