// Durations as messages of Kubernetes write them: `350ms`, `1.5s`, `2m40s`, `1h0m0s`.

export function goDuration(ms: number): string {
  const whole = Math.round(ms)
  if (whole === 0) return '0s'
  if (whole < 1000) return `${whole}ms`
  const hours = Math.floor(whole / 3_600_000)
  const minutes = Math.floor((whole % 3_600_000) / 60_000)
  const seconds = (whole % 60_000) / 1000
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`
}
