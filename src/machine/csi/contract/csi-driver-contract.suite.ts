// The contract suite of CSI drivers. The simulated driver and the driver process (test/csi/) pass it.
import { test } from 'node:test'
import type { Check, DriverUnderTest, UnderTestOptions } from './driver-under-test.harness.ts'
import { faultContract } from './faults.suite.ts'
import { identityContract } from './identity.suite.ts'
import { snapshotContract } from './snapshots.suite.ts'
import { volumeContract } from './volumes.suite.ts'

export function csiDriverContract(kind: string, start: (options?: UnderTestOptions) => Promise<DriverUnderTest>): void {
  const check: Check = (name, run, options = {}) => {
    test(`${kind}: ${name}`, async () => {
      await using under = await start(options)
      await run(under)
    })
  }
  identityContract(check)
  volumeContract(check)
  snapshotContract(check)
  faultContract(check)
}
