// Amounts of CPU and memory as texts.

const one = (value: number): string =>
  value >= 100 ? Math.round(value).toString() : value.toFixed(1).replace(/\.0$/, '')

/** Millicores as CPUs. */
export const cpuText = (millis: number): string => `${one(millis / 1_000)} CPUs`

const bytesPerMebibyte = 1 << 20

export function memoryText(bytes: number): string {
  const mebibytes = bytes / bytesPerMebibyte
  return mebibytes >= 1_024 ? `${one(mebibytes / 1_024)} GiB` : `${one(mebibytes)} MiB`
}

/** Nothing is a share of nothing. */
export const percent = (part: number, whole: number): number => (whole <= 0 ? 0 : Math.min(100, (part / whole) * 100))
