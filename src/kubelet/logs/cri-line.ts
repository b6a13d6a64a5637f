// A line of a log file in the format of CRI: `2026-01-02T03:04:05.678901234Z stdout F what was printed`.

export interface CriLine {
  readonly timestamp: string
  /** What was printed, with the end of its line where that has come. */
  readonly content: Uint8Array
  /** The line goes on: it was longer than the runtime's buffer. */
  readonly isPartial: boolean
}

const space = 0x20
const partialTag = 'P'
const fieldBytesMax = 64

/** Of one line with its line feed; undefined when it is none of CRI's. */
export function parseCriLine(line: Uint8Array): CriLine | undefined {
  const head = line.subarray(0, fieldBytesMax)
  const afterTime = head.indexOf(space)
  const afterStream = head.indexOf(space, afterTime + 1)
  const afterTags = head.indexOf(space, afterStream + 1)
  if (afterTime < 0 || afterStream < 0 || afterTags < 0) return undefined
  const [timestamp, stream, tags = ''] = new TextDecoder().decode(head.subarray(0, afterTags)).split(' ')
  if (timestamp === undefined || (stream !== 'stdout' && stream !== 'stderr')) return undefined
  const isPartial = tags.split(':')[0] === partialTag
  return { timestamp, content: line.subarray(afterTags + 1, isPartial ? -1 : undefined), isPartial }
}

/** With nine digits behind the point, as logs with timestamps show it. */
export function fixedNanoseconds(timestamp: string): string {
  const [, seconds = timestamp, digits = '', zone = 'Z'] =
    /^([^.Z+]+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(timestamp) ?? []
  return `${seconds}.${digits.padEnd(9, '0').slice(0, 9)}${zone}`
}
