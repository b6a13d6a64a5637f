// The group that the extension server of the benchmark serves, and the name of its Service.
export const benchGroup = 'bench.example.com'
export const benchServerName = 'bench.default.svc'
