// Rate: how many a second, by the clock and by the processor time of this process: on a busy machine the second says more.

export interface Rate {
  readonly perSecond: number
  readonly perCpuSecond: number
}

export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Starts the clocks; what is returned stops them. */
export function startRate(): (count: number) => Rate {
  const [beginMs, beginCpuMs] = [performance.now(), cpuMs()]
  return (count) => ({
    perSecond: (count * 1000) / (performance.now() - beginMs),
    perCpuSecond: (count * 1000) / (cpuMs() - beginCpuMs),
  })
}

/** Against a base, such as upstream's floor. */
export function shownRate({ perSecond, perCpuSecond }: Rate, base: number): string {
  const against = (value: number) => `${value.toFixed(0)} (${(value / base).toFixed(1)} times ${base})`
  return `${against(perSecond)} a second, ${against(perCpuSecond)} a second of processor time`
}
