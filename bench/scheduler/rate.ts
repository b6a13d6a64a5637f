// Rate: items per second of elapsed time and of this process's processor time, which is more reliable on a busy
// machine.

export interface Rate {
  readonly perSecond: number
  readonly perCpuSecond: number
}

export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Starts the clocks; the result stops them. */
export function startRate(): (count: number) => Rate {
  const beginMs = performance.now()
  const beginCpuMs = cpuMs()
  return (count) => ({
    perSecond: (count * 1000) / (performance.now() - beginMs),
    perCpuSecond: (count * 1000) / (cpuMs() - beginCpuMs),
  })
}

/** Compared with a base, such as upstream's threshold. */
export function shownRate({ perSecond, perCpuSecond }: Rate, base: number): string {
  const against = (value: number) => `${value.toFixed(0)} (${(value / base).toFixed(1)} times ${base})`
  return `${against(perSecond)} a second, ${against(perCpuSecond)} a second of processor time`
}
