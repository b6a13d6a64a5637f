// Ages as kubectl shows them: 5s, 3m20s, 2h, 4d, 2y.

export function ageText(sinceText: string | null | undefined, nowMs: number): string {
  return !sinceText ? '<unknown>' : humanDuration(nowMs - Date.parse(sinceText))
}

/** The time of creation. As upstream, an object without one is from the year 1. */
export const creationText = ({ creationTimestamp }: { readonly creationTimestamp?: string | undefined }): string =>
  creationTimestamp ?? '0001-01-01T00:00:00Z'

export function humanDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return joined(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return joined(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (hours < 192) return joined(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.floor(days / 365)
  return days < 2920 ? joined(years, 'y', days % 365, 'd') : `${years}y`
}

const joined = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
