// The version that the server reports.

export const serverVersion = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.4',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'node',
}
