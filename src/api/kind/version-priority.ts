// compareVersions: the order of the versions of a group, the preferred one first: stable versions before beta before alpha,
// newer before older, and all other names after them in alphabetical order.

const versionForm = /^v([1-9]\d{0,9})(?:(alpha|beta)([1-9]\d{0,9}))?$/

const stages = ['alpha', 'beta', undefined]

export function compareVersions(a: string, b: string): number {
  const left = versionForm.exec(a)
  const right = versionForm.exec(b)
  if (left === null || right === null) return left !== null ? -1 : right !== null ? 1 : a < b ? -1 : a > b ? 1 : 0
  return (
    stages.indexOf(right[2]) - stages.indexOf(left[2]) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  )
}
