--- Base64 (RFC 4648, section 4), which Neovim itself has from 0.10 on.
local ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

return vim.base64 and vim.base64.encode or function(text)
  local digits = {}
  for start = 1, #text, 3 do
    local a, b, c = text:byte(start, start + 2)
    local bits = a * 65536 + (b or 0) * 256 + (c or 0)
    for place = 3, 0, -1 do
      local digit = math.floor(bits / 64 ^ place) % 64
      local is_filling = place == 1 and not b or place == 0 and not c
      table.insert(digits, is_filling and '=' or ALPHABET:sub(digit + 1, digit + 1))
    end
  end
  return table.concat(digits)
end
