// The contract suite of host load drivers.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { HostLoad } from './host-load.ts'

export function hostLoadContract(driver: string, load: HostLoad, path: string): void {
  const within = (part: number, whole: number) =>
    equal(part >= 0 && part <= whole && whole > 0, true, `${part} ${whole}`)

  test(`${driver}: usage does not exceed the capacity`, async () => {
    const [memory, files, processes] = await Promise.all([load.memory(), load.fileSystem(path), load.processes()])
    within(memory.availableBytes, memory.capacityBytes)
    within(memory.workingSetBytes, memory.capacityBytes)
    equal(memory.availableBytes + memory.workingSetBytes, memory.capacityBytes)
    within(files.usedBytes, files.capacityBytes)
    within(files.availableBytes, files.capacityBytes)
    within(files.inodesFree, files.inodes)
    within(processes.running, processes.max)
    for (const { pageBytes, pages } of await load.hugePages()) equal(pageBytes >= 4_096 && pages >= 0, true)
    equal((await load.cpuNanos()) >= 0, true)
  })
}
