// Loaded before a program: its wall clock goes wrong by SKEW_MS milliseconds.
const skew = Number(process.env.SKEW_MS)
const now = Date.now.bind(Date)
Date.now = () => now() + skew
