// How long the event loop is blocked: the processor time that this thread spends between two turns, which excludes
// other programs on the machine.

/** Starts the measurement; calling the result ends it and returns the milliseconds of the longest turn. */
export function holdOf(): () => number {
  let longestMs = 0
  let before = process.threadCpuUsage()
  let isOn = true
  const turn = () => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    longestMs = Math.max(longestMs, (user + system) / 1000)
    if (isOn) setTimeout(turn, 0)
  }
  setTimeout(turn, 0)
  return () => {
    isOn = false
    return longestMs
  }
}
