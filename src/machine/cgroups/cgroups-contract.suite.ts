// The contract suite of cgroup drivers, run below a cgroup that the caller provides.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Cgroups } from './cgroups.ts'

export interface CgroupsUnderTest {
  readonly cgroups: Cgroups
  readonly path: string
}

const limits = { cpuShares: 512, cpuPeriodUs: 100_000, cpuQuotaUs: 50_000, memoryBytes: 64 << 20 }

export function cgroupsContract(driver: string, open: () => Promise<CgroupsUnderTest>): void {
  const limitsOf = async ({ cgroups }: CgroupsUnderTest, path: string) => {
    const seen = await cgroups.limits(path)
    return (
      seen && { ...seen, cpuShares: Math.abs((seen.cpuShares ?? 0) - limits.cpuShares) < 30 ? 512 : seen.cpuShares }
    )
  }

  test(`${driver}: a cgroup is created with limits, which can be changed and removed`, async () => {
    const under = await open()
    const { cgroups, path } = under
    equal(await cgroups.limits(`${path}/pod`), undefined)
    await cgroups.make(`${path}/pod`, limits)
    deepEqual(await limitsOf(under, `${path}/pod`), limits)
    await cgroups.make(`${path}/pod`, { ...limits, memoryBytes: 32 << 20 })
    equal((await cgroups.limits(`${path}/pod`))?.memoryBytes, 32 << 20)
    await cgroups.make(`${path}/pod`, { cpuShares: 512 })
    deepEqual(await limitsOf(under, `${path}/pod`), { cpuShares: 512 })
    await cgroups.remove(path)
  })

  test(`${driver}: cgroups are listed, their usage is read, and children are removed with their parent`, async () => {
    const { cgroups, path } = await open()
    await cgroups.make(`${path}/one/inner`, {})
    await cgroups.make(`${path}/two`, {})
    deepEqual([...(await cgroups.list(path))].toSorted(), ['one', 'two'])
    const usage = await cgroups.usage(`${path}/one/inner`)
    deepEqual([usage?.processes, (usage?.memoryBytes ?? -1) >= 0, (usage?.cpuNanos ?? -1) >= 0], [0, true, true])
    equal(await cgroups.usage(`${path}/three`), undefined)
    equal(await cgroups.process(path), undefined, 'nothing runs in it')
    await cgroups.remove(path)
    await cgroups.remove(path)
    deepEqual(await cgroups.list(path), [])
  })
}
